//! `pte schema`.

use super::good;

#[test]
fn schema_prints_the_declared_tables() {
    let mut text = String::new();
    pte::flat::fbs::write(&pte::schema::program::desc::SCHEMA, &mut text).unwrap();
    assert_eq!(good(&["schema"]), text);
    assert!(good(&["schema", "flat-tensor-legacy"]).contains("tensor_alignment"));
}
