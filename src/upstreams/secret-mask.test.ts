import { expect, test } from "bun:test";
import { SecretMask } from "./secret-mask.ts";

const KEY = "sk-upstream/SECRET+0001";
const mask = new SecretMask([KEY, "short", "no"], ["sk-of-another-upstream"]);

test("an error has no secret of any upstream, no credentials and no inner address in it", () => {
	for (const [said, shown] of [
		[`bad key ${KEY} or sk-of-another-upstream`, "bad key [secret] or [secret]"],
		["say short or no", "say [secret] or no"],
		["http://user:pass%20word@gpu.example/v1 failed", "http://[secret]@gpu.example/v1 failed"],
		["connect ECONNREFUSED 10.1.2.3:8000", "connect ECONNREFUSED [address]"],
		["from 172.16.0.1, 172.31.9.9:1 and 192.168.4.5", "from [address], [address] and [address]"],
		["[fd00::1]:9 [fe80::1%25eth0] [::1]:80", "[address] [address] [address]"],
		["gpu-1.cluster.local:8000, redis.default.svc, db.internal, localhost:11434", "[address], [address], [address], [address]"],
		["tcp-10.0.0.7, ip_10.0.0.7:80 and 10.0.0.1-10.0.0.9", "tcp-[address], ip_[address] and [address]-[address]"],
		["100.64.3.4:1 0.0.0.0:8000 ip-10-0-0-7", "[address] [address] [address]"],
		[
			"connect ECONNREFUSED ::1:8545, fd12:3456:789a::1:80, fe80::1ff:fe23%eth0",
			"connect ECONNREFUSED [address], [address], [address]",
		],
		["my_node.internal, geth.home.arpa and gpu.corp:80", "[address], [address] and [address]"],
		["said: \\n10.0.0.7:80 \\tlocalhost", "said: \\n[address] \\t[address]"],
		["http://bob:p'w#?@h.example and bob:pw1234@h.example", "http://[secret]@h.example and [secret]@h.example"],
		// Of the public internet, and no addresses at all.
		[
			"http://h.example:8080/a@b, std::1x, 1.10.0.0.1, fade:1 or 100.63.0.1",
			"http://h.example:8080/a@b, std::1x, 1.10.0.0.1, fade:1 or 100.63.0.1",
		],
		["see https://platform.example/docs, 8.8.8.8 or 172.32.0.1", "see https://platform.example/docs, 8.8.8.8 or 172.32.0.1"],
		["version 10.1.2 of 127 tokens, internal error, a@b.example", "version 10.1.2 of 127 tokens, internal error, a@b.example"],
	] as const)
		expect(mask.error(said)).toBe(shown);
});

test("the name of a server of the inner network stands in no error, but where it is a word", () => {
	const own = new SecretMask([], [], ["vllm-gpu7", "ollama", "api.example.com"]);
	for (const [said, shown] of [
		["host='vllm-gpu7', port=80", "host='[address]', port=80"],
		["http://ollama/v1, ollama:11434", "http://[address]/v1, [address]"],
		["ollama has no such model at api.example.com", "ollama has no such model at api.example.com"],
	] as const)
		expect(own.error(said)).toBe(shown);
});

test("what is masked in an error of JSON is masked whatever of it is escaped, and the rest keeps its bytes", async () => {
	const masked = async (json: string) => Buffer.from(await mask.errorBytes(Buffer.from(json))).toString();
	for (const [said, shown] of [
		[String.raw`{"a":"\n10.0.0.7:80\t\u000alocalhost"}`, String.raw`{"a":"\n[address]\t\n[address]"}`],
		[String.raw`{"a":"http:\u002f\u002fbob:p\u0026w\u0040h.example"}`, '{"a":"http://[secret]@h.example"}'],
		[String.raw`{"a":"\ud83d\ude00 short \u00e9 \"\\ x"}`, '{"a":"\\ud83d\\ude00 [secret] é \\"\\\\ x"}'],
		[`{"a":[1.0e5,"${KEY.toUpperCase()}"]}`, '{"a":[1.0e5,"[secret]"]}'],
	] as const)
		expect(await masked(said)).toBe(shown);
	const plain = Buffer.from(String.raw`{"data":"0x\u0031","n":12345678901234567890}`);
	expect(await mask.errorBytes(plain)).toBe(plain);
});

test("an answer has no secret of its upstream in it, in any spelling of JSON, and is else untouched", async () => {
	const escaped = (text: string, digits: (hex: string) => string) =>
		[...text].map((character) => `\\u${digits(character.charCodeAt(0).toString(16).padStart(4, "0"))}`).join("");
	for (const secret of [
		KEY,
		KEY.replace("/", "\\/"),
		KEY.replace("S", "\\u0053"),
		KEY.replace("+", "\\u002B").replace("/", "\\u002f"),
		escaped(KEY, (hex) => hex),
		escaped(KEY, (hex) => hex.toUpperCase()),
	]) {
		const said = JSON.stringify({ content: "é" }).replace("é", `é ${secret} é`);
		expect(mask.answer(said)).toBe('{"content":"é [secret] é"}');
		expect(Buffer.from(await mask.answerBytes(Buffer.from(said))).toString()).toBe('{"content":"é [secret] é"}');
	}
	const plain = Buffer.from("short, no, 10.0.0.1 and sk-of-another-upstream may be words of a model");
	expect(await mask.answerBytes(plain)).toBe(plain);
	expect(mask.answer(plain.toString())).toBe(plain.toString());
});

test("an error that is read as it comes is masked across its pieces", async () => {
	const said = `${"é ".repeat(3_000)}"${KEY} http:\\/\\/user:pass@10.0.0.1:8000/${KEY.replace("S", "\\u0053")}" é`;
	const shown = `${"é ".repeat(3_000)}"[secret] http://[secret]@[address]/[secret]" é`;
	expect(Buffer.from(await mask.errorBytes(Buffer.from(said))).toString()).toBe(shown);
	for (const size of [1, 7, 1_000]) {
		const bytes = Buffer.from(said);
		const pieces = new ReadableStream<Uint8Array>({
			start(controller) {
				for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
				controller.close();
			},
		});
		expect(await new Response(pieces.pipeThrough(mask.errorPieces())).text()).toBe(shown);
	}
});
