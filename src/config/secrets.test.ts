import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, loadConfig } from "./index.ts";
import { fileState, SecretFault, withSecrets } from "./secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "turnpike-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(name: string, content: string | Uint8Array): string {
	const path = join(folder, name);
	writeFileSync(path, content);
	return path;
}

const read = (value: string, env = {}) => withSecrets(value, env, () => {});
const fault = (value: string, env = {}) => {
	try {
		return read(value, env);
	} catch (error) {
		if (error instanceof SecretFault) return error.message;
		throw error;
	}
};

test("a value may hold variables, files and credentials, several and in the middle of it", () => {
	const key = fileWith("key", "from-a-file\n");
	expect(read(`a \${NAME} b \${file:${key}} c`, { NAME: "from-the-environment" })).toBe("a from-the-environment b from-a-file c");
	expect(read("${credential:key}", { CREDENTIALS_DIRECTORY: folder })).toBe("from-a-file");
	expect(read("$${file:/nowhere} $${NAME} $NAME")).toBe("${file:/nowhere} ${NAME} $NAME");
});

test("one line end at the end of a file is no part of the secret, everything else is", () => {
	for (const [content, secret] of [
		["a", "a"],
		["a\n", "a"],
		["a\r\n", "a"],
		["a\n\n", "a\n"],
		[" ${NAME} \n", " ${NAME} "],
	] as const)
		expect(read(`\${file:${fileWith("one", content)}}`)).toBe(secret);
});

test("a reference that brings no secret says why", () => {
	mkdirSync(join(folder, "folder"));
	expect(fault("${MISSING}")).toBe("environment variable MISSING is not set");
	expect(fault("${file:relative}")).toContain("write an absolute path");
	expect(fault(`\${file:${folder}/none}`)).toContain("cannot be read (ENOENT)");
	expect(fault(`\${file:${folder}/folder}`)).toContain("is not a file");
	expect(fault("${file:/dev/zero}")).toContain("is not a file");
	expect(fault(`\${file:${fileWith("empty", "\n")}}`)).toContain("is empty");
	expect(fault(`\${file:${fileWith("large", "x".repeat(65_537))}}`)).toContain("is larger than 65536 bytes");
	// A terabyte, without a block on the disk.
	const endless = fileWith("endless", "x");
	truncateSync(endless, 2 ** 40);
	expect(fault(`\${file:${endless}}`)).toContain("is larger than 65536 bytes");
	expect(fault(`\${file:${fileWith("binary", Uint8Array.of(0xff, 0xfe))}}`)).toContain("is not text in UTF-8");
	for (const name of ["../key", "a/b", ".", "..", ""])
		expect(fault(`\${credential:${name}}`)).toContain("write the name of a credential");
});

test("the configuration names the setting of a bad reference, and the files that it read", () => {
	const key = fileWith("upstream-key", "sk-1");
	const config = (value: string) =>
		fileWith("turnpike.yaml", JSON.stringify({ upstreams: { a: { url: "http://a/v1", key: value } } }));
	config(`\${file:${key}}`);
	const loaded = loadConfig({}, {}, folder);
	expect(loaded.config.upstreams.a?.key).toBe("sk-1");
	expect([...loaded.secretFiles]).toEqual([[key, fileState(key)]]);
	config("${file:/nowhere/key}");
	expect(() => loadConfig({}, {}, folder)).toThrow(ConfigError);
	expect(() => loadConfig({}, {}, folder)).toThrow(/upstreams\.a\.key: \/nowhere\/key cannot be read \(ENOENT\)/);
});

test("what only looks like a reference is refused, and not told: it would be a secret that everybody can guess", () => {
	for (const value of [
		"${METRICS-TOKEN}",
		"${}",
		"${ NAME}",
		"${NAME:-x}",
		"${FILE:/run/secrets/a}",
		"a ${NAME",
		"${1}",
		"$${a} ${b c}",
	])
		expect({ value, fault: fault(value, { NAME: "x" }) }).toEqual({
			value,
			fault: expect.stringContaining("begins no reference"),
		});
	expect(fault("s3cret${tail of it", {})).not.toContain("tail");
	for (const value of ["$NAME", "$ {NAME}", "{NAME}", "$$", "$${NAME-x}"]) expect(read(value)).toBe(value.replace("$${", "${"));
});
