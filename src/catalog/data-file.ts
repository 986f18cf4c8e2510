import { readFileSync } from "node:fs";
import type { Issue } from "../errors/index.ts";
import { pathText } from "../schema/index.ts";
import { CatalogError } from "./catalog-error.ts";

/** A compiled schema of a data file. */
export interface Check<T> {
	check(value: unknown): value is T;
	issues(value: unknown): Issue[];
}

/**
 * Reads a JSON file.
 * @throws {CatalogError} if it cannot be read or is not JSON
 */
export function readJson(file: string): unknown {
	let text: string;
	try {
		text = readFileSync(file, "utf8");
	} catch (cause) {
		throw new CatalogError(file, "", `cannot be read: ${(cause as Error).message}`, cause);
	}
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw new CatalogError(file, "", `is not JSON: ${(cause as Error).message}`, cause);
	}
}

/**
 * Returns the value, narrowed by the check. `at` is its path in the file.
 * @throws {CatalogError} with the first invalid path and the expectation
 */
export function checked<T>(file: string, check: Check<T>, value: unknown, at: readonly (string | number)[] = []): T {
	if (check.check(value)) return value;
	const first = check.issues(value)[0];
	throw new CatalogError(file, pathText([...at, ...(first?.path ?? [])]), first?.message ?? "is not what the schema expects");
}
