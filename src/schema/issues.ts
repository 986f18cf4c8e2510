import type { Issue } from "../errors/index.ts";
import { ruleOf, ruleOfSchema } from "./patterned-text.ts";
import { sizeLimits } from "./size-limits.ts";

/** A fault that a compiled TypeBox schema reports (JSON Schema keywords). */
export interface SchemaFault {
	readonly keyword: string;
	readonly schemaPath: string;
	readonly instancePath: string;
	readonly params: object;
	readonly message: string;
}

const MAX_ISSUES = 20;
const BRANCH = /^(.*)\/anyOf\/(\d+)/;

function pathOf(instancePath: string): (string | number)[] {
	if (instancePath === "") return [];
	return instancePath
		.slice(1)
		.split("/")
		.map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~")));
}

function param<T>(fault: SchemaFault, name: string): T | undefined {
	return (fault.params as Record<string, T>)[name];
}

/** Returns the schema at a fault's path, such as `#/properties/amountUsd`; undefined if it is not in the root. */
function schemaAt(root: unknown, schemaPath: string): unknown {
	let at = root;
	for (const part of schemaPath.split("/").slice(1))
		at = (at as Record<string, unknown> | null | undefined)?.[part.replaceAll("~1", "/").replaceAll("~0", "~")];
	return at;
}

function describe(fault: SchemaFault, root: unknown): string {
	// For a number instead of a text of digits, the text's rule is more helpful than its type.
	const rule = fault.keyword === "type" ? ruleOfSchema(schemaAt(root, fault.schemaPath)) : undefined;
	if (rule !== undefined) return `${rule}, as text`;
	if (fault.keyword === "enum") return `must be one of ${(param<unknown[]>(fault, "allowedValues") ?? []).join(", ")}`;
	if (fault.keyword === "const") return `must be ${JSON.stringify(param(fault, "allowedValue"))}`;
	if (fault.keyword === "pattern")
		return ruleOf(param<string>(fault, "pattern") ?? "") ?? `must match ${param<string>(fault, "pattern")}`;
	return fault.message;
}

interface Branch {
	readonly faults: SchemaFault[];
	/** True for a branch that was not meant: it has another type at its root, or another discriminator. */
	foreign: boolean;
}

/**
 * Removes the faults of a union's branches whose own type or discriminator (`role`, `type`) does not match: only the
 * nearest branch is useful. Works from the innermost union outwards.
 */
function withoutForeignBranches(
	faults: readonly SchemaFault[],
	discriminators: readonly string[],
	schema: unknown,
): SchemaFault[] {
	const unions = new Map<string, { at: string; prefix: string; branches: Map<string, Branch> }>();
	const rest: SchemaFault[] = [];
	for (const fault of faults) {
		const match = BRANCH.exec(fault.schemaPath);
		if (!match) {
			rest.push(fault);
			continue;
		}
		const prefix = match[1] ?? "";
		const root = rootOf(fault, prefix, faults);
		const id = `${prefix}@${root}`;
		const union = unions.get(id) ?? { at: root, prefix, branches: new Map<string, Branch>() };
		unions.set(id, union);
		const index = match[2] ?? "";
		const branch = union.branches.get(index) ?? { faults: [], foreign: false };
		union.branches.set(index, branch);
		branch.faults.push(fault);
		const below = fault.instancePath.slice(root.length);
		if (below === "" && (fault.keyword === "type" || fault.keyword === "const")) branch.foreign = true;
		if ((fault.keyword === "const" || fault.keyword === "enum") && discriminators.includes(below.slice(1))) branch.foreign = true;
	}
	for (const union of unions.values()) {
		const meant = [...union.branches.values()].filter((branch) => !branch.foreign);
		const own = rest.findIndex(
			(fault) => fault.keyword === "anyOf" && fault.instancePath === union.at && fault.schemaPath === union.prefix,
		);
		if (meant.length === 0) {
			const all = [...union.branches.values()].flatMap((branch) => branch.faults);
			const summary = summarise(all, union.at, discriminators, schema);
			if (own >= 0) rest[own] = summary;
			else rest.push(summary);
			continue;
		}
		if (own >= 0) rest.splice(own, 1);
		const nearest = meant.reduce((a, b) => (b.faults.length < a.faults.length ? b : a));
		const stripped = nearest.faults.map((fault) => ({ ...fault, schemaPath: fault.schemaPath.replace(BRANCH, "$1/branch") }));
		rest.push(...withoutForeignBranches(stripped, discriminators, schema));
	}
	return rest;
}

function isAtOrBelow(path: string, top: string): boolean {
	return path === top || path.startsWith(`${top}/`);
}

/** Returns where in the value a union is: the instance path of the union's own summary fault, nearest above `fault`. */
function rootOf(fault: SchemaFault, prefix: string, faults: readonly SchemaFault[]): string {
	let best = "";
	for (const other of faults) {
		if (other.keyword !== "anyOf" || other.schemaPath !== prefix) continue;
		const at = other.instancePath;
		if (isAtOrBelow(fault.instancePath, at) && at.length >= best.length) best = at;
	}
	return best;
}

function summarise(faults: readonly SchemaFault[], at: string, discriminators: readonly string[], schema: unknown): SchemaFault {
	const discriminated = faults.filter(
		(fault) => fault.keyword === "const" && discriminators.includes(fault.instancePath.slice(at.length + 1)),
	);
	const first = discriminated[0];
	if (first) {
		const allowedValues = [...new Set(discriminated.map((fault) => param(fault, "allowedValue")))];
		return { ...first, keyword: "enum", params: { allowedValues }, schemaPath: "" };
	}
	const ofType = faults.filter((fault) => fault.keyword === "type" && fault.instancePath === at);
	const types = ofType.map((fault) => String(param(fault, "type")));
	// The rule of a text is more helpful than its type, and itself names the values that mean none.
	const rule = ofType.map((fault) => ruleOfSchema(schemaAt(schema, fault.schemaPath))).find((each) => each !== undefined);
	const textAlone = types.every((type) => type === "string" || type === "null");
	const constants = faults
		.filter((fault) => fault.keyword === "const" && fault.instancePath === at)
		.map((fault) => JSON.stringify(param(fault, "allowedValue")));
	const expected = [...new Set([...types, ...constants])];
	return {
		keyword: "type",
		schemaPath: "",
		instancePath: at,
		params: {},
		message: rule !== undefined && textAlone ? `${rule}, as text` : `must be ${expected.join(" or ") || "valid"}`,
	};
}

export interface IssuesOptions {
	/** Members that distinguish the branches of a union. */
	readonly discriminators?: readonly string[];
	/** The checked schema: it has the rules in words. */
	readonly schema?: unknown;
}

/**
 * Returns the faults of a schema check as `issues` (accounts and errors: DetailedError): at most 20, each with a path,
 * a machine code and a sentence.
 */
export function issuesOf(faults: readonly SchemaFault[], options: IssuesOptions = {}): Issue[] {
	const { discriminators = ["role", "type"], schema } = options;
	const issues: Issue[] = [];
	const seen = new Set<string>();
	const add = (path: (string | number)[], code: string, message: string, limits: Partial<Issue> | null = null): void => {
		const id = `${path.join("/")} ${message}`;
		if (seen.has(id) || issues.length >= MAX_ISSUES) return;
		seen.add(id);
		issues.push({ path, code, message, ...limits });
	};
	const addUnknown = (path: (string | number)[]): void =>
		add(path, "unrecognized_key", `Unrecognized key(s) in object: '${path.at(-1)}'`);
	const reported = withoutForeignBranches(faults, discriminators, schema);
	for (const fault of reported) {
		const path = pathOf(fault.instancePath);
		if (fault.keyword === "boolean") continue;
		if (
			fault.keyword === "anyOf" &&
			reported.some((other) => other !== fault && isAtOrBelow(other.instancePath, fault.instancePath))
		)
			continue;
		if (fault.keyword === "additionalProperties") {
			const keys = param<string[]>(fault, "additionalProperties") ?? [];
			for (const key of keys) addUnknown([...path, key]);
		} else if (fault.keyword === "required") {
			for (const key of param<string[]>(fault, "requiredProperties") ?? []) add([...path, key], "required", "is required");
		} else {
			add(path, fault.keyword, describe(fault, schema), sizeLimits(fault.keyword, param(fault, "limit")));
		}
	}
	// The validator stops at a number of faults: for very many unknown keys it reports each, without a summary.
	if (issues.length === 0) for (const fault of reported) if (fault.keyword === "boolean") addUnknown(pathOf(fault.instancePath));
	return issues;
}

/** Returns `issues` in the nested form `{_errors: [], field: {_errors: ["..."]}}`. */
export function detailsOf(issues: readonly Issue[]): Record<string, unknown> {
	interface Node {
		_errors: string[];
		[field: string]: Node | string[];
	}
	const root: Node = Object.assign(Object.create(null), { _errors: [] });
	for (const issue of issues) {
		let node = root;
		for (const part of issue.path) {
			const key = part === "_errors" ? "_errors_" : String(part);
			const next = (node[key] as Node | undefined) ?? (Object.assign(Object.create(null), { _errors: [] }) as Node);
			node[key] = next;
			node = next;
		}
		node._errors.push(issue.message);
	}
	return root;
}

/** Returns a path as text, like `messages[0].content`. */
export function pathText(path: readonly (string | number)[]): string {
	let text = "";
	for (const part of path) text += typeof part === "number" ? `[${part}]` : text === "" ? part : `.${part}`;
	return text;
}
