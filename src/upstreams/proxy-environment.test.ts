import { expect, test } from "bun:test";

const script = `
import { chatForward, HELLO } from "${import.meta.dir}/../../test/support/chat-forward.ts";
import { startScriptedUpstream } from "${import.meta.dir}/../../test/support/scripted-upstream.ts";
import { silentLog } from "${import.meta.dir}/../telemetry/log.ts";
import { createChatUpstreams } from "${import.meta.dir}/chat/chat-upstreams.ts";
const server = startScriptedUpstream();
const upstreams = createChatUpstreams({
	upstreams: { main: { url: server.url, dialect: "generic", discover: true, health: { failures: 3, probeEveryMs: 5000 } } },
	timeouts: { chatFirstByteMs: 2000, chatIdleMs: 2000, chatUnaryMs: 2000, chatStreamTriesMs: 2000 },
	log: silentLog,
});
console.log((await upstreams.whole(chatForward(HELLO))).upstream);
await server.stop();
process.exit(0);
`;

/** The runtime's fetch obeys these variables for loopback too; a local model server is behind no proxy. */
test("a proxy of the environment does not capture calls to loopback", async () => {
	const proxy = "http://127.0.0.1:9";
	const child = Bun.spawn([process.execPath, "-e", script], {
		env: {
			...process.env,
			HTTP_PROXY: proxy,
			HTTPS_PROXY: proxy,
			http_proxy: proxy,
			ALL_PROXY: proxy,
			NO_PROXY: "",
			no_proxy: "",
		},
		stdout: "pipe",
		stderr: "pipe",
	});
	const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	expect(errors).toBe("");
	expect(output.trim()).toBe("main");
});
