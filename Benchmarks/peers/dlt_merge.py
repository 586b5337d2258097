"""Peer: dlt into SQLite, write disposition merge with a primary key. usage: dlt_merge.py FEED DB"""

import os
import sys
import tempfile

import orjson

# Nothing is sent anywhere, and one file a step is enough.
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["NORMALIZE__DATA_WRITER__BUFFER_MAX_ITEMS"] = "50000"

import dlt


@dlt.resource(
    name="Person",
    primary_key="ticketNumber",
    write_disposition="merge",
    columns={"dateOfBirth": {"data_type": "text"}},
)
def people(path):
    with open(path, "rb") as feed:
        records = orjson.loads(feed.read())
    for person in records:
        address = person["address"]
        yield {
            "ticketNumber": person["ticket_number"],
            "firstName": person["first_name"],
            "lastName": person["last_name"],
            "socialSecurityNumber": person["ss_num"],
            "salary": float(person["salary"].replace(",", "")),
            "dateOfBirth": person["dob"][:19].replace("T", " "),
            "active": person["active"],
            "score": person["score"],
            "visits": person["visits"],
            "city": address["city"],
            "zip": address["zip"],
        }


with tempfile.TemporaryDirectory() as folder:
    pipeline = dlt.pipeline(
        "people",
        pipelines_dir=folder,
        destination=dlt.destinations.sqlalchemy(f"sqlite:///{sys.argv[2]}"),
        dataset_name="main",
    )
    normalizers = {"names": "direct", "json": {"module": "dlt.common.normalizers.json.relational"}}
    schema = dlt.Schema("people", normalizers=normalizers)
    pipeline.run(people(sys.argv[1]), schema=schema)
