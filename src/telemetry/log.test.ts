import { expect, test } from "bun:test";
import { join } from "node:path";

const SECRETS: Readonly<Record<string, string>> = {
	key: "sk_inf_0000",
	authorization: "Bearer sk_adm_1111",
	"x-sign-in-with-x": "c2lnbmVkLTIyMjI",
	"payment-signature": "payment-3333",
	"x-payment": "payment-4444",
	"x-api-key": "sk-ant-5555",
	cookie: "session=6666",
	secret: "hmac-7777",
	password: "pg-8888",
	token: "metrics-9999",
	messages: "prompt-aaaa",
	prompt: "prompt-bbbb",
	input: "prompt-cccc",
};

test("fields that hold secrets or prompts are blackened at any of the first three levels, whatever their case", () => {
	const program = `
		const { createLog } = await import(${JSON.stringify(join(import.meta.dir, "log.ts"))});
		const secrets = ${JSON.stringify(SECRETS)};
		const log = createLog("info");
		log.info(secrets, "one");
		log.info({ request: secrets, requestId: "id-1" }, "two");
		log.warn({ request: { headers: secrets } }, "three");
		const upper = Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name.toUpperCase(), value]));
		log.info({ headers: upper }, "four");
	`;
	const { stderr, exitCode } = Bun.spawnSync([process.execPath, "-e", program], { stderr: "pipe" });
	const written = stderr.toString();
	expect(exitCode).toBe(0);
	expect(written.trim().split("\n")).toHaveLength(4);
	expect(written).toContain("id-1");
	for (const secret of Object.values(SECRETS)) expect(written).not.toContain(secret);
});
