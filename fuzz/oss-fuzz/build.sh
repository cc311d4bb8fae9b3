#!/bin/bash -eu
# Builds the one program of all targets, and copies it under the name of each, which picks the target;
# each with the seeds and its dictionary.
cd "$SRC/pte"
cargo fuzz build -O --debug-assertions
release=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
for target in $(ls fuzz/regressions); do
  cp "$release/x86_64-unknown-linux-gnu/release/fuzz" "$OUT/$target"
  zip -qj "$OUT/${target}_seed_corpus.zip" fuzz/seeds/* $(find fuzz/regressions -type f ! -name ".*")
  dict=pte
  if [ -e "fuzz/dict/$target.dict" ]; then dict=$target; fi
  cp "fuzz/dict/$dict.dict" "$OUT/$target.dict"
  printf '[libfuzzer]\nmax_len = 8192\n' > "$OUT/$target.options"
done
