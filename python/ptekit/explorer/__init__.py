"""An extension of Google's Model Explorer: `model-explorer model.pte --extensions=ptekit.explorer`.

It needs `pip install ptekit[explorer]`. Model Explorer imports `ptekit.explorer.main`.
"""
