import { createServer } from "node:net";

/** A port of the loopback address that was free a moment ago, for a program that cannot take one by itself. */
export function freePort(): Promise<number> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.once("error", reject);
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			server.close(() =>
				typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port")),
			);
		});
	});
}
