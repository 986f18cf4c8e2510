import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { LogLevel, Settings } from "../../../src/routes/console/types.ts";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { Choice } from "../parts/choice.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Table } from "../parts/table.tsx";
import { say, sayFault } from "../parts/toasts.tsx";
import { settingRows } from "./setting-rows.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const satisfies readonly LogLevel[];

/** The loaded configuration with its defaults. */
export function SettingsPage(): ReactNode {
	const query = useQuery(queries.settings());
	return (
		<Page
			title="Settings"
			says="The settings as loaded, with defaults; secrets are hidden. Change them in turnpike.yaml, then reload."
		>
			<Loaded query={query}>
				{(settings) => (
					<>
						<Section title="Log level" says="The log level of this node, until its configuration is reloaded.">
							<LogLevelField settings={settings} />
						</Section>
						<Configuration settings={settings} />
					</>
				)}
			</Loaded>
		</Page>
	);
}

function LogLevelField({ settings }: { readonly settings: Settings }) {
	const client = useQueryClient();
	const change = useMutation({
		mutationFn: (level: LogLevel) => call<Settings>("/log-level", { method: "PUT", body: { level } }),
		onSuccess: (changed) => {
			client.setQueryData(queries.settings().queryKey, changed);
			say(`The log level is ${changed.logLevel}`);
		},
		onError: sayFault,
	});
	return (
		<div className="inline-fields">
			<SelectField
				label="Level"
				value={settings.logLevel}
				onChange={change.mutate}
				options={LEVELS.map((value) => ({ value, text: value }))}
			/>
		</div>
	);
}

function Configuration({ settings }: { readonly settings: Settings }) {
	const [search, setSearch] = useState("");
	const [as, setAs] = useState<"table" | "json">("table");
	const rows = settingRows(settings.config);
	const matches = rows.filter(({ path, value }) => `${path} ${value}`.toLowerCase().includes(search.trim().toLowerCase()));
	return (
		<Section
			title="Configuration"
			actions={
				<Choice
					label="Shown as"
					value={as}
					onChange={setAs}
					options={[
						{ value: "table", text: "Table" },
						{ value: "json", text: "JSON" },
					]}
				/>
			}
		>
			{as === "json" ? (
				<CodeBlock text={JSON.stringify(settings.config, null, 2)} what="the configuration" />
			) : (
				<>
					<div className="inline-fields">
						<TextField label="Find a setting" type="search" value={search} onChange={setSearch} />
					</div>
					{matches.length === 0 ? (
						<Empty title="No setting matches" />
					) : (
						<Table
							label="Configuration"
							rows={matches}
							rowKey={({ path }) => path}
							columns={[
								{ name: "Setting", cell: ({ path }) => <span className="mono break">{path}</span> },
								{
									name: "Value",
									cell: ({ value }) =>
										value === "(hidden)" ? <span className="tag">hidden</span> : <span className="mono break">{value}</span>,
								},
							]}
						/>
					)}
				</>
			)}
		</Section>
	);
}
