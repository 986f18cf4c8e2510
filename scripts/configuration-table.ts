/** The table of every setting, from the schema: `bun scripts/configuration-table.ts` writes it into docs/configuration.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { ConfigSchema } from "../src/config/index.ts";

interface Schema {
	readonly type?: string;
	readonly enum?: readonly string[];
	readonly const?: string;
	readonly anyOf?: readonly Schema[];
	readonly description?: string;
	readonly default?: unknown;
	readonly minimum?: number;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly patternProperties?: Readonly<Record<string, Schema>>;
	readonly items?: Schema;
}

const BEGIN = "<!-- settings: made by scripts/configuration-table.ts -->";
const END = "<!-- end of settings -->";

/** Markdown rows of every setting. */
export function configurationTable(): string {
	return ["| Setting | Value | Default |", "|---|---|---|", ...rows(ConfigSchema as unknown as Schema, "")].join("\n");
}

/** The page with its table replaced. */
export function withTable(page: string): string {
	const start = page.indexOf(BEGIN);
	const end = page.indexOf(END);
	if (start < 0 || end < 0) throw new Error("docs/configuration.md lacks the marks of its table");
	return `${page.slice(0, start + BEGIN.length)}\n\n${configurationTable()}\n\n${page.slice(end)}`;
}

function rows(schema: Schema, path: string): string[] {
	if (schema.properties)
		return Object.entries(schema.properties).flatMap(([name, inner]) => rows(inner, path ? `${path}.${name}` : name));
	const value = Object.values(schema.patternProperties ?? {})[0];
	if (value?.properties || value?.patternProperties) {
		const about = schema.description ? [row(path, schema.description, "")] : [];
		return [...about, ...rows(value, `${path}.<name>`)];
	}
	const own = row(path, describe(schema), schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``);
	return [own, ...(schema.items?.properties ? rows(schema.items, `${path}[]`) : [])];
}

function row(path: string, text: string, fallback: string): string {
	return `| \`${path}\` | ${text.replaceAll("|", "\\|")} | ${fallback} |`;
}

function describe(schema: Schema): string {
	const kind = schema.anyOf
		? schema.anyOf.map((one) => one.const ?? one.type).join(" or ")
		: schema.enum
			? schema.enum.join(", ")
			: schema.patternProperties
				? "map of text"
				: schema.type === "array"
					? "list"
					: (schema.type ?? "");
	const least = schema.minimum === undefined || schema.minimum <= 1 ? "" : `, at least ${schema.minimum}`;
	return `${kind}${least}${schema.description ? `. ${schema.description}` : ""}`;
}

if (import.meta.main) {
	const file = new URL("../docs/configuration.md", import.meta.url);
	writeFileSync(file, withTable(readFileSync(file, "utf8")));
}
