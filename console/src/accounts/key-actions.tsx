import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedKey, Key } from "../../../src/routes/console/types.ts";
import { call } from "../api/call.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { say } from "../parts/toasts.tsx";
import { KeyForm } from "./key-form.tsx";

const pathOf = (accountId: string) => `/accounts/${encodeURIComponent(accountId)}/keys`;

/** Refetches the queries that show keys. */
function useKeysChanged(accountId: string): () => Promise<unknown> {
	const client = useQueryClient();
	return () =>
		Promise.all([
			client.invalidateQueries({ queryKey: ["account", accountId, "keys"] }),
			client.invalidateQueries({ queryKey: ["keys"] }),
		]);
}

/** Returns a key's name; its last characters if it has no description. */
export const keyName = ({ description, last6Chars }: Pick<Key, "description" | "last6Chars">): string =>
	description === "" ? `the key that ends in ${last6Chars}` : description;

/** The buttons that change and end a key. */
export function KeyActions({ accountId, of }: { readonly accountId: string; readonly of: Key }) {
	const [open, setOpen] = useState<"edit" | "revoke" | null>(null);
	const changed = useKeysChanged(accountId);
	const path = `${pathOf(accountId)}/${encodeURIComponent(of.id)}`;
	const close = () => setOpen(null);
	return (
		<>
			<button type="button" className="button button-small" onClick={() => setOpen("edit")} aria-label={`Change ${keyName(of)}`}>
				Change
			</button>{" "}
			<button
				type="button"
				className="button button-small button-danger"
				onClick={() => setOpen("revoke")}
				aria-label={`Revoke ${keyName(of)}`}
			>
				Revoke
			</button>
			<Dialog title={`Change ${keyName(of)}`} open={open === "edit"} onClose={close}>
				<KeyForm
					of={of}
					onClose={close}
					save={async (body) => {
						await call(path, { method: "PATCH", body });
						await changed();
						say("The key was changed. The change applies from the next request on");
						close();
					}}
				/>
			</Dialog>
			<Confirm
				open={open === "revoke"}
				onClose={close}
				danger
				title={`Revoke ${keyName(of)}?`}
				says="It gets 401, starting with the next request, and cannot be restored. Its spending stays in the books."
				verb="Revoke key"
				run={async () => {
					await call(path, { method: "DELETE" });
					await changed();
					say("The key was revoked");
				}}
			/>
		</>
	);
}

/** Creates a key of an account and shows its secret, only this once. */
export function NewKeyButton({ accountId }: { readonly accountId: string }) {
	const [open, setOpen] = useState(false);
	const [created, setCreated] = useState<CreatedKey | null>(null);
	const changed = useKeysChanged(accountId);
	const close = () => {
		setOpen(false);
		setCreated(null);
	};
	return (
		<>
			<button type="button" className="button" onClick={() => setOpen(true)}>
				New key
			</button>
			<Dialog
				title={created === null ? "New key" : "The key was created"}
				says={created === null ? undefined : "Copy it now: it is shown only once, since the server keeps only its hash."}
				open={open}
				onClose={close}
			>
				{created === null ? (
					<KeyForm
						of={null}
						onClose={close}
						save={async (body) => {
							const { data } = await call<{ data: CreatedKey }>(pathOf(accountId), { method: "POST", body });
							setCreated(data);
							await changed();
						}}
					/>
				) : (
					<>
						<CodeBlock text={created.apiKey} what="the key" />
						<div className="form-foot">
							<button type="button" className="button button-main" onClick={close}>
								I have copied it
							</button>
						</div>
					</>
				)}
			</Dialog>
		</>
	);
}
