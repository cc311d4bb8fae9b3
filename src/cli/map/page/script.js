(function () {
  'use strict';
  var box = document.getElementById('search'), said = document.getElementById('found');
  function unfold(e) {
    for (; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  }
  function search() {
    var text = box.value.trim().toLowerCase(), all = 0;
    document.querySelectorAll('table.s').forEach(function (table) {
      var found = 0;
      Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
        var is = !text || row.textContent.toLowerCase().indexOf(text) >= 0;
        row.hidden = !is;
        if (is) found++;
      });
      if (text && found) unfold(table);
      all += found;
    });
    said.textContent = text ? all + (all === 1 ? ' row' : ' rows') : '';
  }
  function sort(head) {
    var table = head.closest('table'), body = table.tBodies[0], at = head.cellIndex;
    var down = head.getAttribute('aria-sort') !== 'descending', number = head.dataset.k === 'n';
    function key(row) {
      var text = row.cells[at].textContent;
      return number ? parseFloat(text.replace(/[,%]/g, '')) : text;
    }
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (a, b) {
      var x = key(a), y = key(b), order = number ? x - y : x < y ? -1 : x > y ? 1 : 0;
      return down ? -order : order;
    });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) {
      cell.removeAttribute('aria-sort');
    });
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    rows.forEach(function (row) { body.appendChild(row); });
  }
  function go() {
    var to = document.getElementById(location.hash.slice(1));
    if (!to) return;
    unfold(to);
    to.hidden = false;
    to.scrollIntoView();
  }
  box.parentElement.hidden = false;
  box.addEventListener('input', search);
  document.querySelectorAll('th[data-k]').forEach(function (head) {
    head.tabIndex = 0;
    head.addEventListener('click', function () { sort(head); });
    head.addEventListener('keydown', function (e) { if (e.key === 'Enter') sort(head); });
  });
  window.addEventListener('hashchange', go);
  var folded = [];
  window.addEventListener('beforeprint', function () {
    folded = Array.prototype.slice.call(document.querySelectorAll('details:not([open])'));
    folded.forEach(function (e) { e.open = true; });
  });
  window.addEventListener('afterprint', function () {
    folded.forEach(function (e) { e.open = false; });
  });
  go();
})();
