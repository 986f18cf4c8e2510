/** A page of the documentation for each endpoint, from the OpenAPI document: what it says is what is checked. */
import { curl, python, typescript } from "./example-code.ts";
import { EXAMPLES } from "./examples.ts";

type Json = Readonly<Record<string, unknown>>;

export interface OpenApi {
	readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

interface Described {
	readonly operationId: string;
	readonly summary: string;
	readonly description?: string;
	readonly tags: readonly string[];
	readonly security?: readonly Json[];
	readonly parameters?: readonly {
		readonly name: string;
		readonly in: string;
		readonly required: boolean;
		readonly schema: Json;
	}[];
	readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
	readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

export interface EndpointPage {
	readonly file: string;
	readonly tag: string;
	readonly title: string;
	/** `POST /api/v1/chat/completions` */
	readonly address: string;
	readonly text: string;
}

export function endpointPages({ paths }: OpenApi): EndpointPage[] {
	return Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, described]) => ({
			file: `${described.operationId}.md`,
			tag: described.tags[0] ?? "Other",
			title: described.summary,
			address: `${method.toUpperCase()} /api/v1${path}`,
			text: pageOf(method.toUpperCase(), path, described),
		})),
	);
}

function pageOf(method: string, path: string, described: Described): string {
	const example = EXAMPLES[described.operationId];
	const operation = { method, path };
	const open = described.security?.length === 0;
	const codes =
		example === undefined
			? []
			: [
					"## Example",
					"",
					"::: code-group",
					...[
						["sh", "curl", curl(operation, example)],
						["python", "Python", python(operation, example)],
						["ts", "TypeScript", typescript(operation, example)],
					].flatMap(([language, name, code]) => [`\`\`\`${language} [${name}]`, code ?? "", "```"]),
					":::",
					"",
				];
	return [
		`# ${described.summary}`,
		"",
		`\`${method} /api/v1${path}\``,
		"",
		...(described.description ? [prose(described.description), ""] : []),
		open ? "Takes no credential." : "Takes a key (`Authorization: Bearer sk_...`), or what [the API](../api.md) says of wallets.",
		"",
		...codes,
		...parameters(described),
		...bodies(described),
		"## Answers",
		"",
		"| Status | |",
		"|---|---|",
		...Object.entries(described.responses).map(([status, { description }]) => `| ${status} | ${cell(description)} |`),
		"",
	].join("\n");
}

function parameters({ parameters: all = [] }: Described): string[] {
	if (all.length === 0) return [];
	const rows = all.map(
		({ name, in: where, required, schema }) =>
			`| \`${name}\`${required ? " *" : ""} | ${where} | ${cell(typeOf(schema))} | ${cell(about(schema))} |`,
	);
	return ["## Parameters", "", "| Name | In | Value | |", "|---|---|---|---|", ...rows, "", "\\* must be there", ""];
}

function bodies({ requestBody }: Described): string[] {
	return Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
		const fields = Object.entries((schema.properties ?? {}) as Record<string, Json>);
		if (fields.length === 0) return [];
		const required = (schema.required ?? []) as readonly string[];
		const rows = fields.map(
			([name, field]) => `| \`${name}\`${required.includes(name) ? " *" : ""} | ${cell(typeOf(field))} | ${cell(about(field))} |`,
		);
		return [`## Body: ${type}`, "", "| Field | Value | |", "|---|---|---|", ...rows, "", "\\* must be there", ""];
	});
}

const about = (schema: Json) => String(schema.description ?? "");

function typeOf(schema: Json): string {
	const options = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined;
	const fallback = schema.default === undefined ? "" : `; ${JSON.stringify(schema.default)} unless given`;
	if (options !== undefined) return `${[...new Set(options.map(typeOf))].join(" or ")}${fallback}`;
	if (typeof schema.$ref === "string") return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
	if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
	if ("const" in schema) return JSON.stringify(schema.const);
	const least = schema.minimum ?? schema.exclusiveMinimum;
	const bounds = [
		...(least === undefined ? [] : [`from ${least}`]),
		...(schema.maximum === undefined ? [] : [`to ${schema.maximum}`]),
	].join(" ");
	return `${[schema.type ?? "any"].flat().join(" or ")}${bounds === "" ? "" : ` ${bounds}`}${fallback}`;
}

/** Text that neither Markdown nor the generator's templates read as their own. */
const prose = (text: string) => text.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;");
const cell = (text: string) => prose(text).replaceAll("|", "\\|").replaceAll("\n", " ");
