/** A request in the languages of the pages. Each piece runs as it stands, with TURNPIKE_KEY in the environment. */
import type { Example } from "./examples.ts";

export const BASE = "http://127.0.0.1:8787/api/v1";
const VARIABLE = /\$([A-Z_]+)/g;

export interface Operation {
	readonly method: string;
	/** As in the OpenAPI document: `/models/{id}`. */
	readonly path: string;
}

/** The path with what stands for its names, and the query. */
function address({ path }: Operation, { path: values = {}, query = {} }: Example): string {
	const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? `{${name}}`);
	const parameters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
	return `${filled}${parameters.length > 0 ? `?${parameters.join("&")}` : ""}`;
}

export function curl(operation: Operation, example: Example): string {
	const { json, form = {}, headers = {}, into, open } = example;
	const parts = [
		`curl --fail-with-body ${operation.method === "GET" || json || example.form ? "" : `-X ${operation.method} `}"${BASE}${address(operation, example)}"`,
	];
	if (operation.method !== "GET" && operation.method !== "POST" && (json || example.form)) parts.push(`-X ${operation.method}`);
	if (open !== true) parts.push('-H "Authorization: Bearer $TURNPIKE_KEY"');
	for (const [name, value] of Object.entries(headers)) parts.push(`-H "${name}: ${value}"`);
	if (json !== undefined) parts.push('-H "Content-Type: application/json"', `-d ${shellText(JSON.stringify(json))}`);
	for (const [name, value] of Object.entries(form)) parts.push(`-F ${shellText(`${name}=${value}`)}`);
	if (into !== undefined) parts.push(`-o ${into}`);
	return parts.join(" \\\n  ");
}

/** In single quotes, a variable outside of them. */
function shellText(text: string): string {
	return `'${text.replaceAll("'", "'\\''").replace(VARIABLE, (name) => `'"${name}"'`)}'`;
}

export function python(operation: Operation, example: Example): string {
	const { json, form, headers = {}, into, open } = example;
	const all = [
		...(open === true ? [] : ['"Authorization": f"Bearer {os.environ[\'TURNPIKE_KEY\']}"']),
		...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${pythonValue(value)}`),
	];
	const fields = Object.entries(form ?? {}).filter(([, value]) => !value.startsWith("@"));
	const files = Object.entries(form ?? {}).filter(([, value]) => value.startsWith("@"));
	const lines = [
		"import os",
		"import requests",
		"",
		"answer = requests.request(",
		`    "${operation.method}",`,
		`    ${pythonText(`${BASE}${address(operation, example)}`)},`,
		...(all.length > 0 ? [`    headers={${all.join(", ")}},`] : []),
		...(json === undefined ? [] : [`    json=${pythonValue(json)},`]),
		...(fields.length > 0 ? [`    data=${pythonValue(Object.fromEntries(fields))},`] : []),
		...(files.length > 0
			? [`    files={${files.map(([name, value]) => `"${name}": open("${value.slice(1)}", "rb")`).join(", ")}},`]
			: []),
		"    timeout=600,",
		")",
		"answer.raise_for_status()",
		into === undefined ? "print(answer.json())" : `open("${into}", "wb").write(answer.content)`,
	];
	return lines.join("\n");
}

function pythonText(text: string): string {
	if (text.match(VARIABLE) === null) return JSON.stringify(text);
	const whole = /^\$([A-Z_]+)$/.exec(text)?.[1];
	return whole === undefined
		? `f"${text.replace(VARIABLE, (_, name: string) => `{os.environ['${name}']}`)}"`
		: `os.environ["${whole}"]`;
}

function pythonValue(value: unknown): string {
	if (typeof value === "string") return pythonText(value);
	if (value === null) return "None";
	if (typeof value === "boolean") return value ? "True" : "False";
	if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
	if (typeof value === "object")
		return `{${Object.entries(value)
			.map(([name, of]) => `${JSON.stringify(name)}: ${pythonValue(of)}`)
			.join(", ")}}`;
	return String(value);
}

export function typescript(operation: Operation, example: Example): string {
	const { json, form, headers = {}, into, open } = example;
	const all = [
		...(open === true ? [] : ["Authorization: `Bearer ${process.env.TURNPIKE_KEY}`"]),
		...(json === undefined ? [] : ['"Content-Type": "application/json"']),
		...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${scriptValue(value)}`),
	];
	const fields = Object.entries(form ?? {}).map(([name, value]) =>
		value.startsWith("@")
			? `form.set("${name}", new Blob([await readFile("${value.slice(1)}")]), "${value.slice(1)}");`
			: `form.set("${name}", ${scriptValue(value)});`,
	);
	const writes = into === undefined ? [] : ["writeFile"];
	const reads = fields.some((line) => line.includes("readFile")) ? ["readFile"] : [];
	const imported = [...reads, ...writes];
	const lines = [
		...(imported.length > 0 ? [`import { ${imported.join(", ")} } from "node:fs/promises";`, ""] : []),
		...(fields.length > 0 ? ["const form = new FormData();", ...fields] : []),
		`const answer = await fetch(${scriptValue(`${BASE}${address(operation, example)}`)}, {`,
		...(operation.method === "GET" ? [] : [`  method: "${operation.method}",`]),
		...(all.length > 0 ? [`  headers: { ${all.join(", ")} },`] : []),
		...(json === undefined ? [] : [`  body: JSON.stringify(${scriptValue(json)}),`]),
		...(form === undefined ? [] : ["  body: form,"]),
		"});",
		"if (!answer.ok) throw new Error(await answer.text());",
		into === undefined
			? "console.log(await answer.json());"
			: `await writeFile("${into}", Buffer.from(await answer.arrayBuffer()));`,
	];
	return lines.join("\n");
}

function scriptValue(value: unknown): string {
	if (typeof value === "string") {
		const whole = /^\$([A-Z_]+)$/.exec(value)?.[1];
		if (whole !== undefined) return `process.env.${whole} ?? ""`;
		return value.match(VARIABLE) === null
			? JSON.stringify(value)
			: `\`${value.replace(VARIABLE, (_, name: string) => `\${process.env.${name}}`)}\``;
	}
	if (Array.isArray(value)) return `[${value.map(scriptValue).join(", ")}]`;
	if (typeof value === "object" && value !== null)
		return `{ ${Object.entries(value)
			.map(([name, of]) => `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${scriptValue(of)}`)
			.join(", ")} }`;
	return String(value);
}
