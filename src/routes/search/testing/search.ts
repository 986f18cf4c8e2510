import type { RunningGateway } from "../../../../test/support/running-gateway.ts";

/** 0.01 USD in nano. */
export const PRICE = 10_000_000;

export const send = (gate: RunningGateway, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
	gate.call("POST", "/augment/search", body, headers);

export const codeOf = async (answer: Response): Promise<string> => ((await answer.json()) as { code: string }).code;
