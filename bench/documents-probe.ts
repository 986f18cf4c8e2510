/** Reads one file and writes its text: what bench/documents.ts starts, as it starts the peers. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { extractText } from "../src/engines/documents/extract.ts";

const [path = ""] = process.argv.slice(2);
process.stdout.write(await extractText(readFileSync(path), basename(path), { readScan: null }));
