/** A facilitator for Solana as it is published, over HTTP, that can be made to fail at each step. */
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SOLANA, type SolanaCluster } from "./solana-cluster.ts";
import type { SolanaPackages } from "./solana-packages.ts";

/** It does not answer: at all; to a settlement that it has not sent, has just sent, or knows the end of. */
export type FacilitatorFault = "down" | "before-settle" | "sent" | "after-settle";

export class SolanaFacilitator {
	readonly url: string;
	readonly feePayer: string;
	fault: FacilitatorFault | null = null;
	/** Settlements that reached it. */
	settled = 0;
	readonly #server: Server;

	private constructor(server: Server, feePayer: string) {
		this.#server = server;
		this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		this.feePayer = feePayer;
	}

	static async start(packages: SolanaPackages, cluster: SolanaCluster): Promise<SolanaFacilitator> {
		const signer = await packages.kit.createKeyPairSignerFromPrivateKeyBytes(randomBytes(32));
		cluster.fund(signer.address);
		const x402 = new packages.x402Facilitator();
		const settling = packages.toFacilitatorSvmSigner(signer, { defaultRpcUrl: cluster.url });
		x402.register(SOLANA.id, new packages.SettlingScheme(settling));
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const facilitator = new SolanaFacilitator(server, signer.address);
		const answer = async (path: string, body: string): Promise<object | null> => {
			if (facilitator.fault === "down") return null;
			if (path === "/supported") return x402.getSupported();
			const { paymentPayload, paymentRequirements } = JSON.parse(body);
			if (path === "/verify") return x402.verify(paymentPayload, paymentRequirements);
			facilitator.settled++;
			if (facilitator.fault === "before-settle") return null;
			const sent = cluster.sent();
			const settling = x402.settle(paymentPayload, paymentRequirements);
			if (facilitator.fault === "sent") {
				settling.catch(() => {});
				await Promise.race([sent, settling]);
				return null;
			}
			const settled = await settling;
			return facilitator.fault === "after-settle" ? null : settled;
		};
		server.on("request", async (request, response) => {
			const chunks: Uint8Array[] = [];
			for await (const chunk of request) chunks.push(chunk);
			const said = await answer(request.url ?? "", Buffer.concat(chunks).toString()).catch(() => null);
			if (said === null) response.writeHead(502).end();
			else response.setHeader("content-type", "application/json").end(JSON.stringify(said));
		});
		return facilitator;
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}
}
