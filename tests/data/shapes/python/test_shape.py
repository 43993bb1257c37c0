import unittest

import numpy
import pandas
from pydantic import BaseModel


class Row(BaseModel):
    name: str
    value: float


class Shape(unittest.TestCase):
    def test_native_code(self):
        rows = [Row(name=name, value=value) for name, value in [("a", 1), ("b", 2)]]
        frame = pandas.DataFrame([row.model_dump() for row in rows])
        self.assertEqual(float(numpy.dot(frame["value"], frame["value"])), 5.0)


if __name__ == "__main__":
    unittest.main()
