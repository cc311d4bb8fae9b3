"""Scans files with Spark: a list of paths or URLs, one a line, becomes Parquet files of `pte scan`'s rows.

    python spark_scan.py LIST FOLDER [WORKERS]
"""

import os
import sys
from collections.abc import Iterable, Iterator

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

import ptekit


def rows(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        yield ptekit.scan_batch(batch["path"].to_pylist())


def main(paths: str, folder: str, workers: int = 2) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # On 127.0.0.1 alone. On a cluster: without these lines.
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    local = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false")
    spark = local.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    schema = from_arrow_schema(ptekit.scan_batch([]).schema)
    names = spark.read.text(paths).toDF("path").repartition(workers * 4)
    names.mapInArrow(rows, schema).write.parquet(folder)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
