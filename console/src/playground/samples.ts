/** A request of the playground, for code samples in other languages. Its path is below `/api/v1`. */
export interface SampleRequest {
	readonly path: string;
	/** The body, or the form's fields other than its file. */
	readonly json?: Readonly<Record<string, unknown>> | readonly unknown[];
	readonly form?: Readonly<Record<string, string>>;
	/** The form's field and the file's name. */
	readonly file?: { readonly field: string; readonly name: string };
	/** The kind of answer: a chat stream, a file to save, or JSON. */
	readonly answer: "json" | "stream" | { readonly saveAs: string };
}

export type Language = "curl" | "python" | "typescript";

/** Returns the request as a program that reads the key from TURNPIKE_KEY. `base`: the server's address, without /api/v1. */
export function sample(language: Language, request: SampleRequest, base: string): string {
	const url = `${base}/api/v1${request.path}`;
	if (language === "curl") return curl(request, url);
	return language === "python" ? python(request, url, base) : typescript(request, url, base);
}

const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curl({ json, form = {}, file, answer }: SampleRequest, url: string): string {
	const lines = [`curl ${shell(url)}`, '-H "Authorization: Bearer $TURNPIKE_KEY"'];
	if (json !== undefined) lines.push('-H "Content-Type: application/json"', `-d ${shell(JSON.stringify(json))}`);
	if (file !== undefined) lines.push(`-F ${shell(`${file.field}=@${file.name}`)}`);
	// --form-string sends a value unchanged, while -F would read a file behind an @.
	for (const [name, value] of Object.entries(form)) lines.push(`--form-string ${shell(`${name}=${value}`)}`);
	if (answer === "stream") lines.push("-N");
	if (typeof answer === "object") lines.push(`-o ${shell(answer.saveAs)}`);
	return lines.join(" \\\n  ");
}

function python({ path, json, form = {}, file, answer }: SampleRequest, url: string, base: string): string {
	if (path === "/chat/completions") {
		const [begin, end] =
			answer === "stream"
				? [
						"stream",
						[
							"for chunk in stream:",
							"    for choice in chunk.choices:",
							'        print(choice.delta.content or "", end="", flush=True)',
						],
					]
				: ["answer", ["print(answer.choices[0].message)"]];
		return [
			"import os",
			"from openai import OpenAI",
			"",
			`client = OpenAI(base_url=${JSON.stringify(`${base}/api/v1`)}, api_key=os.environ["TURNPIKE_KEY"])`,
			`${begin} = client.chat.completions.create(`,
			...Object.entries(json ?? {}).map(([name, value]) => `    ${name}=${pythonValue(value, 1)},`),
			")",
			...end,
		].join("\n");
	}
	const fields = Object.keys(form).length === 0 ? [] : [`    data=${pythonValue(form, 1)},`];
	return [
		"import os",
		"import requests",
		"",
		"answer = requests.post(",
		`    ${JSON.stringify(url)},`,
		'    headers={"Authorization": f"Bearer {os.environ[\'TURNPIKE_KEY\']}"},',
		...(json === undefined ? [] : [`    json=${pythonValue(json, 1)},`]),
		...(file === undefined ? [] : [`    files={${JSON.stringify(file.field)}: open(${JSON.stringify(file.name)}, "rb")},`]),
		...fields,
		")",
		"answer.raise_for_status()",
		typeof answer === "object" ? `open(${JSON.stringify(answer.saveAs)}, "wb").write(answer.content)` : "print(answer.json())",
	].join("\n");
}

/** Writes a JSON value in Python's syntax. */
function pythonValue(value: unknown, depth: number): string {
	const inner = "    ".repeat(depth + 1);
	const outer = "    ".repeat(depth);
	if (value === null || value === undefined) return "None";
	if (typeof value === "boolean") return value ? "True" : "False";
	if (typeof value !== "object") return JSON.stringify(value);
	const parts = Array.isArray(value)
		? value.map((each) => pythonValue(each, depth + 1))
		: Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonValue(each, depth + 1)}`);
	const [open, close] = Array.isArray(value) ? "[]" : "{}";
	const short = `${open}${parts.join(", ")}${close}`;
	return short.length <= 72 && !short.includes("\n") ? short : `${open}\n${inner}${parts.join(`,\n${inner}`)},\n${outer}${close}`;
}

function typescript({ path, json, form = {}, file, answer }: SampleRequest, url: string, base: string): string {
	if (path === "/chat/completions")
		return [
			'import OpenAI from "openai";',
			"",
			`const client = new OpenAI({ baseURL: ${JSON.stringify(`${base}/api/v1`)}, apiKey: process.env.TURNPIKE_KEY });`,
			`const ${answer === "stream" ? "stream" : "answer"} = await client.chat.completions.create(${JSON.stringify(json, null, 2)});`,
			...(answer === "stream"
				? [
						"for await (const { choices } of stream)",
						'  for (const { delta } of choices) process.stdout.write(delta.content ?? "");',
					]
				: ["console.log(answer.choices[0]?.message);"]),
		].join("\n");
	const body =
		json === undefined
			? [
					"const body = new FormData();",
					...(file === undefined
						? []
						: [
								`body.set(${JSON.stringify(file.field)}, await openAsBlob(${JSON.stringify(file.name)}), ${JSON.stringify(file.name)});`,
							]),
					...Object.entries(form).map(([name, value]) => `body.set(${JSON.stringify(name)}, ${JSON.stringify(value)});`),
				]
			: [`const body = JSON.stringify(${JSON.stringify(json, null, 2)});`];
	const saved = typeof answer === "object";
	const type = json === undefined ? "" : ', "Content-Type": "application/json"';
	return [
		...(file === undefined ? [] : ['import { openAsBlob } from "node:fs";']),
		...(saved ? ['import { writeFile } from "node:fs/promises";'] : []),
		...(file !== undefined || saved ? [""] : []),
		...body,
		`const answer = await fetch(${JSON.stringify(url)}, {`,
		'  method: "POST",',
		`  headers: { Authorization: \`Bearer \${process.env.TURNPIKE_KEY}\`${type} },`,
		"  body,",
		"});",
		"if (!answer.ok) throw new Error(await answer.text());",
		saved
			? `await writeFile(${JSON.stringify(answer.saveAs)}, Buffer.from(await answer.arrayBuffer()));`
			: "console.log(await answer.json());",
	].join("\n");
}
