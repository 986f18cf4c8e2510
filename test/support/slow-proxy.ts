/** A way to a server on the loopback address that delays every byte, or lets none through. */
import { createServer, type Socket, connect as tcpConnect } from "node:net";

export interface SlowProxy {
	readonly port: number;
	/** One way, each way. */
	delayMs: number;
	/** True: connections stay open, and nothing comes through. */
	silent: boolean;
	stop(): void;
}

export function startSlowProxy(targetPort: number): Promise<SlowProxy> {
	const sockets = new Set<Socket>();
	const carry = (from: Socket, to: Socket): void => {
		sockets.add(from);
		from.on("data", (bytes) => {
			if (proxy.silent) return;
			setTimeout(() => to.writable && to.write(bytes), proxy.delayMs);
		});
		const end = () => {
			sockets.delete(from);
			setTimeout(() => to.destroy(), proxy.delayMs);
		};
		from.on("error", end).on("close", end);
	};
	const server = createServer((client) => {
		const target = tcpConnect(targetPort, "127.0.0.1");
		carry(client, target);
		carry(target, client);
	});
	const proxy = {
		port: 0,
		delayMs: 0,
		silent: false,
		stop: () => {
			server.close();
			for (const socket of sockets) socket.destroy();
		},
	};
	return new Promise((resolve) => {
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			resolve(Object.assign(proxy, { port: typeof address === "object" && address !== null ? address.port : 0 }));
		});
	});
}
