import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { queries } from "../api/queries.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { AreaField, TextField } from "../parts/field.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Outcome } from "./outcome.tsx";
import { useRun } from "./run.ts";
import { RunButtons } from "./run-buttons.tsx";

const METHODS = [
	"eth_blockNumber",
	"eth_chainId",
	"eth_getBalance",
	"eth_getBlockByNumber",
	"eth_getTransactionByHash",
	"eth_getTransactionReceipt",
	"eth_call",
	"eth_getLogs",
	"eth_gasPrice",
	"eth_estimateGas",
	"eth_getCode",
	"net_version",
];

/** Parses the typed params, or returns why they are invalid. */
function paramsOf(text: string): { readonly params: unknown } | { readonly fault: string } {
	try {
		const params: unknown = JSON.parse(text.trim() === "" ? "[]" : text);
		return typeof params === "object" && params !== null ? { params } : { fault: "Params must be an array or an object" };
	} catch (fault) {
		return { fault: fault instanceof Error ? fault.message : "This is not valid JSON" };
	}
}

/** Calls a chain's node by JSON-RPC. */
export function RpcPage(): ReactNode {
	const [network, setNetwork] = useState("ethereum-mainnet");
	const [method, setMethod] = useState("eth_blockNumber");
	const [text, setText] = useState("[]");
	const [answered, setAnswered] = useState<string | null>(null);
	const { run, start, stop } = useRun();
	const networks = useQuery(queries.networks());
	const read = paramsOf(text);
	const body = { jsonrpc: "2.0", id: 1, method, params: "params" in read ? read.params : [] };
	const path = `/crypto/rpc/${encodeURIComponent(network)}`;
	const send = (event: FormEvent) => {
		event.preventDefault();
		setAnswered(null);
		void start(path, body, async (answer) => {
			const json = await answer.text();
			setAnswered(pretty(json));
		});
	};
	return (
		<Page title="JSON-RPC" says="Requests use the key that you signed in with, and the operator's account pays.">
			<div className="play">
				<form className="form" onSubmit={send}>
					<div className="form-row">
						<TextField
							label="Network"
							value={network}
							onChange={setNetwork}
							choices={networks.data?.networks.map((each) => each.network) ?? []}
							required
							note={
								networks.data === undefined ? undefined : `${networks.data.networks.filter(({ online }) => online).length} online`
							}
						/>
						<TextField label="Method" value={method} onChange={setMethod} choices={METHODS} required />
					</div>
					<AreaField
						label="Params, as JSON"
						value={text}
						onChange={setText}
						mono
						rows={6}
						fault={"fault" in read ? read.fault : undefined}
					/>
					<RunButtons run={run} onStop={stop} ready={!("fault" in read)} label="Call" runningLabel="Calling…" />
					<Section title="Result">
						{answered === null ? (
							<p className="quiet">Nothing was called yet.</p>
						) : (
							<CodeBlock text={answered} what="the result" />
						)}
					</Section>
				</form>
				<div className="form">
					<Outcome run={run} request={{ path, json: body, answer: "json" }} />
				</div>
			</div>
		</Page>
	);
}

/** Indents JSON; text with numbers above 2^53, which would change, stays as it is. */
function pretty(json: string): string {
	if (/[^"\w.]\d{16,}/.test(json)) return json;
	try {
		return JSON.stringify(JSON.parse(json), null, 2);
	} catch {
		return json;
	}
}
