type JsonObject = Record<string, unknown>;
type Schemas = Readonly<Record<string, JsonObject>>;

interface Operation {
	readonly summary: string;
	readonly description?: string;
	readonly tags: readonly string[];
	readonly parameters?: readonly { name: string; in: string; required: boolean; schema: JsonObject }[];
	readonly requestBody?: { content: Record<string, { schema: JsonObject }> };
	readonly responses: Record<string, { description: string; content?: Record<string, { schema?: JsonObject }> }>;
}

const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8882}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:var(--soft);padding:.8rem;overflow:auto;border-radius:.4rem}
table{border-collapse:collapse;width:100%;font-size:.92em}th,td{text-align:left;vertical-align:top;padding:.3rem .5rem;border-bottom:1px solid var(--line)}
h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}summary{cursor:pointer;font-size:1.05rem;padding:.4rem 0}.m{font-weight:700}.r{opacity:.7}nav a{margin-right:1rem}`;

/** Renders the OpenAPI document as a readable page, without scripts or external resources. */
export function docsPage(document: JsonObject): string {
	const { schemas } = document.components as { schemas: Record<string, JsonObject> };
	const paths = document.paths as Record<string, Record<string, Operation>>;
	const { version, description } = document.info as { version: string; description: string };
	const server = (document.servers as { url: string }[])[0]?.url ?? "";
	const byTag = new Map<string, string[]>();
	for (const [path, item] of Object.entries(paths)) {
		for (const [method, operation] of Object.entries(item)) {
			const tag = operation.tags[0] ?? "Other";
			byTag.set(tag, [...(byTag.get(tag) ?? []), operationHtml(method.toUpperCase(), path, operation, schemas)]);
		}
	}
	const nav = [...byTag.keys()].map((tag) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`).join("");
	const sections = [...byTag]
		.map(([tag, items]) => `<h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>${items.join("")}`)
		.join("");
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Turnpike API</title><style>${STYLE}</style></head><body><main><h1>Turnpike API <small>${escapeHtml(version)}</small></h1><p>${escapeHtml(description)}</p><p>Base address: <code>${escapeHtml(server)}</code> &middot; Send <code>Authorization: Bearer &lt;key&gt;</code>, or <code>SIGN-IN-WITH-X</code> of a wallet &middot; <a href="/api/v1/openapi.json">OpenAPI 3.1 document</a></p><nav>${nav}</nav>${sections}</main></body></html>`;
}

function operationHtml(method: string, path: string, operation: Operation, schemas: Schemas): string {
	const parameters = (operation.parameters ?? []).map((parameter) =>
		row(`${parameter.name} <span class="r">(${parameter.in})</span>`, parameter.schema, parameter.required),
	);
	const { content = {} } = operation.requestBody ?? {};
	const schema = (content["application/json"] ?? content["multipart/form-data"])?.schema;
	const fields = schema ? fieldRows(schema) : [];
	const responses = Object.entries(operation.responses).map(
		([status, { description, content }]) =>
			`<tr><td>${status}</td><td>${escapeHtml(description)}${Object.values(content ?? {})
				// Errors have one form on all routes of a client.
				.map(({ schema: of }) => (status === "200" ? nestedTables(withParts(of, schemas, 0), 0) : ""))
				.join("")}</td></tr>`,
	);
	return `<details><summary><span class="m">${method}</span> <code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary)}</summary>${operation.description ? `<p>${escapeHtml(operation.description)}</p>` : ""}${table("Parameters", parameters)}${table("Body", fields)}${table("Answers", responses)}</details>`;
}

function table(title: string, rows: readonly string[]): string {
	return rows.length === 0 ? "" : `<h3>${title}</h3><table>${rows.join("")}</table>`;
}

function fieldRows(schema: JsonObject, depth = 0): string[] {
	const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
	const required = (schema.required ?? []) as string[];
	return Object.entries(properties).map(([name, property]) => row(name, property, required.includes(name), depth));
}

/** Levels of JSON in a schema that is shown; some refer to themselves. */
const MAX_PARTS = 24;
/** No body or answer is deeper. */
const MAX_DEPTH = 8;

/** Renders the fields of the objects inside a schema, folded: one table for each form that an object can have. */
function nestedTables(schema: JsonObject | undefined, depth: number): string {
	if (schema === undefined || depth >= MAX_DEPTH) return "";
	const tables = objectsIn(schema).map(
		(form) =>
			`<details><summary>${escapeHtml(formName(form))}</summary><table>${fieldRows(form, depth + 1).join("")}</table></details>`,
	);
	return [...new Set(tables)].join("");
}

/** Returns a schema with its references replaced by the schemas that they name. */
function withParts(schema: JsonObject | undefined, schemas: Schemas, depth: number): JsonObject | undefined {
	if (schema === undefined || depth >= MAX_PARTS) return schema;
	const name = typeof schema.$ref === "string" ? schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1) : null;
	if (name !== null) return withParts(schemas[name] ?? {}, schemas, depth + 1);
	const inside = (part: unknown): unknown => {
		if (Array.isArray(part)) return part.map(inside);
		return typeof part === "object" && part !== null ? withParts(part as JsonObject, schemas, depth + 1) : part;
	};
	return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, inside(part)]));
}

/**
 * Returns the object schemas with named fields inside a schema: the value itself, its alternatives, its items, or its
 * members of any name.
 */
function objectsIn(schema: JsonObject): JsonObject[] {
	if (schema.properties !== undefined) return [schema];
	const inner = [schema.items, schema.additionalProperties, ...Object.values((schema.patternProperties ?? {}) as JsonObject)];
	const all = [...((schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []) as unknown[]), ...inner];
	return all.flatMap((part) => (typeof part === "object" && part !== null ? objectsIn(part as JsonObject) : []));
}

/**
 * Returns what distinguishes a form from the others of its union, like `role: "user"`; else just that it has fields.
 */
function formName(form: JsonObject): string {
	const properties = form.properties as Record<string, JsonObject>;
	for (const name of ["role", "type", "object"]) {
		const { const: only, enum: some } = properties[name] ?? {};
		if (only !== undefined) return `${name}: ${JSON.stringify(only)}`;
		if (Array.isArray(some) && some.length <= 3) return `${name}: ${some.join(", ")}`;
	}
	return Object.keys(properties).slice(0, 4).join(", ");
}

function row(name: string, schema: JsonObject, required: boolean, depth = 0): string {
	const label = name.includes("<span") ? name : escapeHtml(name);
	return `<tr><td><code>${label}</code>${required ? " *" : ""}</td><td>${escapeHtml(typeText(schema))}</td><td>${escapeHtml(String(schema.description ?? ""))}${nestedTables(schema, depth)}</td></tr>`;
}

function typeText(schema: JsonObject): string {
	const fallback = schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`];
	const options = schema.anyOf as JsonObject[] | undefined;
	if (options) return [[...new Set(options.map(typeText))].join(" | "), ...fallback].join(", ");
	if (typeof schema.$ref === "string") return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
	if (Array.isArray(schema.enum)) return schema.enum.join(", ");
	if ("const" in schema) return JSON.stringify(schema.const);
	const bounds = [
		["minimum", ">="],
		["exclusiveMinimum", ">"],
		["maximum", "<="],
	]
		.filter(([key]) => key !== undefined && schema[key] !== undefined)
		.map(([key, sign]) => `${sign} ${schema[key ?? ""]}`);
	return [[schema.type ?? "any"].flat().join(" | "), ...bounds, ...fallback].join(", ");
}

function escapeHtml(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
