/** The proxies' configurations of deploy/, run by the programs themselves before a gateway of a test. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from "./tls-certificate.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
/** The name that the files' api.example.com becomes: the test's certificate is for it. */
export const PROXY_HOST = "site.example";
/** Debian has nginx where the PATH of a plain user does not look. */
export const NGINX = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` });
export const CADDY = Bun.which("caddy");

export interface ShippedProxy {
	readonly port: number;
	/** The folder of its files; `ssl/fullchain.pem` is the certificate that it shows. */
	readonly folder: string;
	stop(): Promise<void>;
}

/** deploy/proxy/nginx.conf before the gateway of this address; TLS. */
export async function startShippedNginx(program: string, gateway: string): Promise<ShippedProxy> {
	const [folder, port] = [proxyFolder(), await freePort()];
	const site = readFileSync(join(DEPLOY, "proxy/nginx.conf"), "utf8")
		.replace("127.0.0.1:8787", new URL(gateway).host)
		.replace("listen 443", `listen 127.0.0.1:${port}`)
		.replaceAll("api.example.com", PROXY_HOST)
		.replaceAll("/etc/ssl/turnpike", join(folder, "ssl"));
	const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
	const frame = `pid ${folder}/nginx.pid; error_log stderr warn; worker_processes 1; events {}`;
	return startNginx(program, folder, port, `${frame} http { access_log off; ${places.join(" ")}\n${site}\n}`);
}

/** deploy/compose/nginx.conf before the gateway of this address; no TLS. */
export async function startComposedNginx(program: string, gateway: string): Promise<ShippedProxy> {
	const [folder, port] = [proxyFolder(), await freePort()];
	const text = readFileSync(join(DEPLOY, "compose/nginx.conf"), "utf8")
		.replace("worker_processes auto", "worker_processes 1")
		.replace("172.30.87.11:8787", new URL(gateway).host)
		.replace(/\n\s*server 172\.30\.87\.12:8787[^\n]*/, "")
		.replace("listen 8080", `listen 127.0.0.1:${port}`)
		.replaceAll("/tmp/nginx", join(folder, "nginx"));
	return startNginx(program, folder, port, text);
}

/** deploy/proxy/Caddyfile before the gateway of this address; TLS. */
export async function startShippedCaddy(program: string, gateway: string): Promise<ShippedProxy> {
	const [folder, port] = [proxyFolder(), await freePort()];
	const site = readFileSync(join(DEPLOY, "proxy/Caddyfile"), "utf8")
		.replace("127.0.0.1:8787", new URL(gateway).host)
		.replace(
			"api.example.com {",
			`https://${PROXY_HOST}:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/ssl/fullchain.pem ${folder}/ssl/privkey.pem`,
		);
	const file = join(folder, "Caddyfile");
	writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
	return started([program, "run", "--adapter", "caddyfile", "--config", file], folder, port);
}

function proxyFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-proxy-"));
	mkdirSync(join(folder, "ssl"));
	writeFileSync(join(folder, "ssl/fullchain.pem"), TEST_CERTIFICATE);
	writeFileSync(join(folder, "ssl/privkey.pem"), TEST_CERTIFICATE_KEY);
	return folder;
}

function startNginx(program: string, folder: string, port: number, text: string): Promise<ShippedProxy> {
	const file = join(folder, "nginx.conf");
	writeFileSync(file, `${process.getuid?.() === 0 ? "user root; " : ""}daemon off; ${text}`);
	return started([program, "-p", folder, "-e", "stderr", "-c", file], folder, port);
}

/** A proxy in a process of its own, once its port takes connections. */
async function started(command: readonly string[], folder: string, port: number): Promise<ShippedProxy> {
	const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
	const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
	const said = new Response(child.stderr).text();
	for (;;) {
		const open = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).catch(() => null);
		open?.end();
		if (open !== null) break;
		if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${await said}`);
		await Bun.sleep(20);
	}
	return {
		port,
		folder,
		async stop() {
			child.kill("SIGTERM");
			await child.exited;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}
