import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AuditState } from "../../../src/routes/console/types.ts";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { count } from "../format/quantity.ts";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Figure, Figures, Page, Section } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { TaskLine } from "../parts/task-line.tsx";
import { sayFault } from "../parts/toasts.tsx";

/** The audit of one snapshot: whether the accounts balance. */
export function BooksPage(): ReactNode {
	const client = useQueryClient();
	const query = useQuery(queries.books());
	const start = useMutation({
		mutationFn: () => call<AuditState>("/books", { method: "POST" }),
		onSuccess: (state) => client.setQueryData(queries.books().queryKey, state),
		onError: sayFault,
	});
	const running = query.data?.state === "running" || start.isPending;
	return (
		<Page
			title="Books"
			says="An audit checks on one snapshot that balances equal movements, that every charge has its post, and that nothing is missing."
			actions={
				<button type="button" className="button button-main" disabled={running} onClick={() => start.mutate()}>
					{running ? "Auditing…" : "Audit now"}
				</button>
			}
		>
			<Loaded query={query}>
				{(books) => (
					<>
						<TaskLine task={books} what="audit" />
						{books.report === null ? (
							<Empty title="Not audited since the start of this node" />
						) : (
							<Report report={books.report} />
						)}
					</>
				)}
			</Loaded>
		</Page>
	);
}

function Report({ report }: { readonly report: NonNullable<AuditState["report"]> }) {
	return (
		<>
			<Figures>
				<Figure name="Result">
					<State tone={report.ok ? "good" : "bad"}>{report.ok ? "The books balance" : "Out of balance"}</State>
				</Figure>
				<Figure name="Accounts">{count(report.accounts)}</Figure>
				<Figure name="Posts">{count(report.posts)}</Figure>
				<Figure name="Movements">{count(report.movements)}</Figure>
			</Figures>
			{report.findings.length === 0 ? null : (
				<Section title="Findings" says={report.truncated ? "There are more findings than are listed here." : undefined}>
					<Table
						label="Findings"
						rows={report.findings}
						rowKey={({ check, message }) => `${check} ${message}`}
						columns={[
							{ name: "Check", cell: ({ check }) => check },
							{ name: "What was found", cell: ({ message }) => <span className="break">{message}</span> },
							{
								name: "Numbers",
								cell: ({ numbers }) => (
									<span className="mono break">
										{Object.entries(numbers)
											.map(([name, value]) => `${name} ${value ?? "none"}`)
											.join(", ")}
									</span>
								),
							},
						]}
					/>
				</Section>
			)}
		</>
	);
}
