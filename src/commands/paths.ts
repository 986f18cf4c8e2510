import { fileURLToPath } from "node:url";

/** The catalog's data files, shipped beside the source. */
export const CATALOG_DIR = fileURLToPath(new URL("../../catalog", import.meta.url));
