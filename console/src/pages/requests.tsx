import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import type { RequestDetail } from "../../../src/routes/console/types.ts";
import { queries } from "../api/queries.ts";
import { Refused } from "../api/refused.ts";
import { isZero } from "../format/amount.ts";
import { count, duration } from "../format/quantity.ts";
import { Amount } from "../parts/amount.tsx";
import { TextField } from "../parts/field.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { Figure, Figures, Page, Section } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";

/** Shows one request by its X-Request-ID. */
export function RequestsPage(): ReactNode {
	const [{ id = "" }, change] = useSearchTexts("id");
	const [typed, setTyped] = useState(id);
	const find = (event: FormEvent) => {
		event.preventDefault();
		change({ id: typed.trim() });
	};
	return (
		<Page title="One request" says="Every answer has an X-Request-ID. Enter it to see what was held, charged and paid.">
			<form className="inline-fields" onSubmit={find}>
				<TextField wide label="X-Request-ID" value={typed} onChange={setTyped} required placeholder="32 characters" />
				<button type="submit" className="button button-main">
					Find
				</button>
			</form>
			{id === "" ? null : <RequestView id={id} />}
		</Page>
	);
}

function RequestView({ id }: { readonly id: string }) {
	const query = useQuery(queries.request(id));
	if (query.error instanceof Refused && query.error.status === 404)
		return (
			<Empty title="No request is booked under this id">
				Failed requests cost nothing and are not booked. Old requests may be in an archive.
			</Empty>
		);
	return <Loaded query={query}>{({ data }) => <Detail request={data} />}</Loaded>;
}

function Detail({ request }: { readonly request: RequestDetail }) {
	return (
		<>
			<Figures>
				<Figure name="Price" note={isZero(request.refunded) ? undefined : "partly or fully refunded"}>
					<Amount value={request.price} />
				</Figure>
				<Figure name="Held">
					<Amount value={request.hold} />
				</Figure>
				{isZero(request.refunded) ? null : (
					<Figure name="Refunded">
						<Amount value={request.refunded} />
					</Figure>
				)}
				<Figure name="Duration">{duration(request.tookMs)}</Figure>
				<Figure name="Status">
					<State tone={request.status < 400 ? "good" : "bad"}>{request.status}</State>
				</Figure>
			</Figures>
			<div className="columns">
				<Section title="The request">
					<dl className="sheet sheet-pad facts">
						<dt>X-Request-ID</dt>
						<dd className="mono">{request.requestId}</dd>
						<dt>Account</dt>
						<dd>
							<Link to="/accounts/$accountId" params={{ accountId: request.account.id }}>
								{request.account.name === "" ? request.account.id : request.account.name}
							</Link>
						</dd>
						<dt>Key</dt>
						<dd className="mono">{request.keyId ?? "none: a wallet"}</dd>
						<dt>Route</dt>
						<dd>{request.route}</dd>
						<dt>Model</dt>
						<dd>{request.model ?? "none"}</dd>
						<dt>Upstream</dt>
						<dd>{request.upstream ?? "none"}</dd>
						<dt>Admitted</dt>
						<dd>
							<Moment at={request.admittedAt} />
						</dd>
						<dt>Booked</dt>
						<dd>
							<Moment at={request.bookedAt} />
						</dd>
					</dl>
				</Section>
				{request.usage === null ? null : <Tokens usage={request.usage} />}
			</div>
			<Section title="Lines of the charge">
				{request.lines.length === 0 ? (
					<Empty title="Nothing was charged" />
				) : (
					<Table
						label="Lines of the charge"
						rows={request.lines}
						rowKey={({ sku, source, amount }) => `${sku} ${source} ${amount}`}
						columns={[
							{ name: "What", cell: ({ sku }) => <span className="break">{sku}</span> },
							{ name: "Calculation", cell: ({ text }) => text },
							{ name: "Paid by", cell: ({ source }) => source },
							{ name: "Amount", kind: "number", cell: ({ amount }) => <Amount value={amount} /> },
						]}
					/>
				)}
			</Section>
		</>
	);
}

function Tokens({ usage }: { readonly usage: NonNullable<RequestDetail["usage"]> }) {
	return (
		<Section title="Tokens">
			<dl className="sheet sheet-pad facts">
				<dt>Prompt</dt>
				<dd>{count(usage.promptTokens)}</dd>
				<dt>Of these, cached</dt>
				<dd>{count(usage.cachedTokens)}</dd>
				<dt>Written to a cache</dt>
				<dd>{count(usage.cacheWriteTokens)}</dd>
				<dt>Answer</dt>
				<dd>{count(usage.completionTokens)}</dd>
				<dt>Of these, thoughts</dt>
				<dd>{count(usage.reasoningTokens)}</dd>
				<dt>Counted by</dt>
				<dd>{usage.counted ? "this server, since the upstream reported none" : "the upstream"}</dd>
			</dl>
		</Section>
	);
}
