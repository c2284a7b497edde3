// Asks DuckDB in this process: a line of JSON {"sql": …} on standard input, a line {"ms": …, "rows": [[…]]} back. The
// time is that until the rows are JavaScript values.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const { DuckDBInstance } = require("@duckdb/node-api");
const instance = await DuckDBInstance.create(process.argv[3]);
const connection = await instance.connect();
const plain = (value) => (typeof value === "bigint" ? Number(value) : value);

for await (const line of createInterface({ input: process.stdin })) {
  const begin = performance.now();
  const reader = await connection.runAndReadAll(JSON.parse(line).sql);
  const rows = reader.getRows();
  const ms = performance.now() - begin;
  console.log(JSON.stringify({ ms, rows: rows.map((row) => row.map(plain)) }));
}
