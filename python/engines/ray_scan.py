"""Scans files with Ray Data: a list of paths or URLs, one a line, becomes Parquet files of `pte scan`'s rows.

    python ray_scan.py LIST FOLDER [WORKERS]
"""

import sys

import pyarrow
import ray

import ptekit


def rows(block: pyarrow.Table) -> pyarrow.Table:
    return pyarrow.Table.from_batches([ptekit.scan_batch(block["path"].to_pylist())])


def main(paths: str, folder: str, workers: int = 2) -> None:
    # On 127.0.0.1 alone. On a cluster: ray.init(address="auto").
    ray.init(num_cpus=workers, include_dashboard=False, _node_ip_address="127.0.0.1")
    with open(paths, encoding="utf-8") as lines:
        table = pyarrow.table({"path": [line.rstrip("\n") for line in lines]})
    blocks = ray.data.from_arrow(table).repartition(workers * 4)
    blocks.map_batches(rows, batch_format="pyarrow", batch_size=100).write_parquet(folder)
    ray.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
