import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Settings } from "typebox/system";
import { ApiError, type ApiErrorOptions, type Issue } from "../errors/index.ts";
import { excerptOf } from "./excerpt.ts";
import { issuesOf, pathText } from "./issues.ts";

/** The validator stops early by default (8); a union of unions needs all of its faults to find the relevant one. */
Settings.Set({ maxErrors: 256 });

/** A schema compiled once: `check` narrows the type, `issues` lists the faults. */
export interface Checker<T extends TSchema> {
	readonly schema: T;
	check(value: unknown): value is Static<T>;
	issues(value: unknown): Issue[];
}

/** Returns a checker that compiles at first use: start-up pays only for the routes that are called. */
export function checker<T extends TSchema>(schema: T): Checker<T> {
	let compiled: ReturnType<typeof Compile<T>> | undefined;
	const get = () => {
		compiled ??= Compile(schema);
		return compiled;
	};
	return {
		schema,
		check: (value): value is Static<T> => get().Check(value),
		issues: (value) => {
			const excerpt = excerptOf(schema, value);
			const faults = get().Errors(excerpt.value);
			return issuesOf(
				faults.map((fault) => ({ ...fault, instancePath: excerpt.pointerOf(fault.instancePath) })),
				{ schema },
			);
		},
	};
}

/** Returns a 400 whose text names the first field and its rule, with all faults in `issues`. */
export function invalidRequest(issues: readonly Issue[], options: ApiErrorOptions = {}): ApiError {
	const first = issues[0];
	if (!first) return new ApiError("INVALID_REQUEST");
	const at = pathText(first.path);
	const param = first.path.length > 0 ? { param: at } : {};
	return new ApiError("INVALID_REQUEST", {
		...options,
		message: at ? `${at}: ${first.message}` : first.message,
		issues,
		...param,
	});
}

/** Returns a 400 for one field. */
export function invalidField(
	path: readonly (string | number)[],
	message: string,
	code = "invalid",
	options: ApiErrorOptions = {},
): ApiError {
	return invalidRequest([{ path, code, message }], options);
}
