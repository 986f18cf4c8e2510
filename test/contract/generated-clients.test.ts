/** Clients that are generated from the API document: all answers have a type, and a program that reads them type-checks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContractGateway, startContractGateway } from "./contract-gateway.ts";
import { hasPython, openApiPackages, pythonOf, run } from "./tools.ts";

interface ApiDocument {
	readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>>>;
}

const packages = openApiPackages();
const folder = mkdtempSync(join(tmpdir(), "turnpike-generated-"));
let fixture: ContractGateway;
let document: ApiDocument;

beforeAll(async () => {
	fixture = await startContractGateway();
	document = (await fixture.document()) as ApiDocument;
	writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
});
afterAll(async () => {
	await fixture?.stop();
	rmSync(folder, { recursive: true, force: true });
});

/** What every answer must not be, told to the compiler for each of them. */
const TYPED = `import type { components, paths } from "./api.d.ts";
type IsUnknown<T> = unknown extends T ? true : false;
type Contents<R> = R extends { content: infer C } ? C[keyof C] : unknown;
type Typed<R> = IsUnknown<Contents<R>> extends true ? never : true;
`;

/** A caller's program: it reads answers, errors and events by the names that the document gives. */
const READER = `
type Answer<P extends keyof paths> = paths[P] extends { post: { responses: { 200: { content: { "application/json": infer A } } } } } ? A : never;
type Failure<P extends keyof paths> = paths[P] extends { post: { responses: { 400: { content: { "application/json": infer A } } } } } ? A : never;
export const cost = (answer: Answer<"/chat/completions">): number => answer.cost.usd;
export const said = (answer: Answer<"/chat/completions">): string | null | undefined => answer.choices[0]?.message.content;
export const tokens = (answer: Answer<"/responses">): number | undefined => answer.usage?.output_tokens;
export const stop = (answer: Answer<"/messages">): string | null => answer.stop_reason;
export const message = (failure: Failure<"/chat/completions">): string => failure.error.message;
export const place = (failure: Failure<"/api_keys">): string | number | undefined => failure.issues?.[0]?.path[0];
export const piece = (event: components["schemas"]["ChatCompletionEvent"]): string | null | undefined =>
	"choices" in event ? event.choices[0]?.delta.content : event.error.message;
export const result = (answer: Answer<"/crypto/rpc/{network}">): unknown => (Array.isArray(answer) ? answer[0]?.result : answer.result);
`;

describe.skipIf(packages === null)("openapi-typescript", () => {
	const program = (path: string) => ["node", join(packages ?? "", path)];

	test("types every answer, and what reads them compiles", async () => {
		await run([...program("openapi-typescript/bin/cli.js"), "openapi.json", "-o", "api.d.ts"], folder);
		const answers = Object.entries(document.paths).flatMap(([path, methods]) =>
			Object.entries(methods).flatMap(([method, { responses }]) =>
				Object.keys(responses).map((status) => `paths[${JSON.stringify(path)}]["${method}"]["responses"][${status}]`),
			),
		);
		expect(answers.length).toBeGreaterThan(400);
		const checks = answers.map((answer, index) => `export const a${index}: Typed<${answer}> = true;`);
		writeFileSync(join(folder, "reader.ts"), `${TYPED}${READER}${checks.join("\n")}\n`);
		const options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--allowImportingTsExtensions"];
		const target = ["--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022"];
		await run([...program("typescript/bin/tsc"), ...options, ...target, "reader.ts"], folder);
	});
});

/** The generator knows files by this type alone. */
const FILE_TYPES = ["image/png", "audio/mpeg"];

const PYTHON_READER = `
from turnpike_client.models.chat_completion import ChatCompletion
from turnpike_client.models.error import Error
from turnpike_client.models.message import Message
from turnpike_client.models.response_object import ResponseObject
from turnpike_client.types import Unset


def cost(answer: ChatCompletion) -> float:
    return answer.cost.usd


def said(answer: ChatCompletion) -> str | None | Unset:
    return answer.choices[0].message.content


def tokens(answer: ResponseObject) -> int:
    return 0 if answer.usage is None else answer.usage.output_tokens


def blocks(answer: Message) -> int:
    return len(answer.content)


def place(failure: Error) -> str | int | None:
    return None if isinstance(failure.issues, Unset) else failure.issues[0].path[0]
`;

describe.skipIf(!hasPython)("openapi-python-client", () => {
	test("types every answer, and what reads them passes mypy", async () => {
		const python = pythonOf("python-openapi-client");
		const overrides = FILE_TYPES.map((type) => `  ${type}: application/octet-stream\n`).join("");
		writeFileSync(join(folder, "config.yml"), `post_hooks: []\ncontent_type_overrides:\n${overrides}`);
		const generate = ["generate", "--path=openapi.json", "--config=config.yml", "--meta=none", "--output-path=turnpike_client"];
		const out = await run([python, "-m", "openapi_python_client", ...generate, "--fail-on-warning"], folder);
		expect(out).not.toContain("WARNING");
		const calls = readdirSync(join(folder, "turnpike_client/api"), { recursive: true, encoding: "utf8" })
			.filter((name) => name.endsWith(".py") && !name.endsWith("__init__.py"))
			.map((name) => [name, /^def sync_detailed\([^)]*\) -> (.*):$/m.exec(read(name))?.[1] ?? "none"] as const);
		expect(calls.length).toBe(Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length);
		expect(calls.filter(([, type]) => !/^Response\[/.test(type) || /\bAny\b/.test(type))).toEqual([]);
		writeFileSync(join(folder, "reader.py"), PYTHON_READER);
		await run([python, "-m", "mypy", "--disallow-untyped-defs", "--warn-return-any", "reader.py", "turnpike_client"], folder);
	});

	const read = (name: string): string => readFileSync(join(folder, "turnpike_client/api", name), "utf8");
});
