import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AssetRow, Assets } from "../../../src/routes/console/types.ts";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { bytes, percent } from "../format/quantity.ts";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { ProgressBar } from "../parts/share-bar.tsx";
import { State } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { sayFault } from "../parts/toasts.tsx";

const STATES = {
	absent: ["off", "not here"],
	fetching: ["warn", "downloading"],
	ready: ["good", "here"],
	failed: ["bad", "failed"],
} as const;

const columns: readonly Column<AssetRow>[] = [
	{
		name: "Asset",
		cell: ({ name, group }) => (
			<>
				<span className="break">{name}</span>
				{group === null ? null : <span className="sub">{group}</span>}
			</>
		),
		sortBy: ({ name }) => name,
	},
	{
		name: "State",
		cell: ({ state, error }) => (
			<>
				<State tone={STATES[state][0]}>{STATES[state][1]}</State>
				{error === null ? null : <span className="sub break">{error}</span>}
			</>
		),
		sortBy: ({ state }) => state,
	},
	{ name: "Size", kind: "number", cell: ({ totalBytes }) => bytes(totalBytes), sortBy: ({ totalBytes }) => totalBytes },
	{ name: "Progress", cell: (asset) => <Received asset={asset} /> },
	{ name: "Licence", cell: ({ licence }) => licence, sortBy: ({ licence }) => licence },
	{ name: "Actions", kind: "actions", cell: (asset) => <Pull asset={asset} /> },
];

function Received({ asset: { name, state, receivedBytes, totalBytes } }: { readonly asset: AssetRow }) {
	if (state !== "fetching") return null;
	const share = totalBytes === 0 ? 0 : receivedBytes / totalBytes;
	const text = `${bytes(receivedBytes)} of ${bytes(totalBytes)}, ${percent(share)}`;
	return (
		<>
			<ProgressBar label={`Downloading ${name}`} share={share} text={text} />
			<span className="sub">{text}</span>
		</>
	);
}

function Pull({ asset: { name, state } }: { readonly asset: AssetRow }) {
	const client = useQueryClient();
	const pull = useMutation({
		mutationFn: () => call<Assets>(`/assets/${encodeURIComponent(name)}/pull`, { method: "POST" }),
		onSuccess: (assets) => client.setQueryData(queries.assets().queryKey, assets),
		onError: sayFault,
	});
	if (state === "ready" || state === "fetching") return null;
	return (
		<button
			type="button"
			className="button button-small"
			disabled={pull.isPending}
			onClick={() => pull.mutate()}
			aria-label={`${state === "failed" ? "Try again" : "Download"}: ${name}`}
		>
			{state === "failed" ? "Try again" : "Download"}
		</button>
	);
}

/** Weights and programs of the engines: each is fetched at its first use, or from this page. */
export function AssetsPage(): ReactNode {
	const query = useQuery(queries.assets());
	return (
		<Page
			title="Assets"
			says="Model weights and programs for the engines of this server. They are downloaded at first use, or from here."
		>
			<Loaded query={query}>
				{({ assets }) =>
					assets.length === 0 ? (
						<Empty title="No assets" />
					) : (
						<Table label="Assets" columns={columns} rows={assets} rowKey={({ name }) => name} />
					)
				}
			</Loaded>
		</Page>
	);
}
