import { useEffect, useId, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { localClock, localTime } from "../format/instant.ts";
import { useTheme } from "../theme.ts";
import type { ChartSeries } from "./chart-series.ts";

export interface ChartProps {
	readonly title: string;
	/** Seconds since 1970, ascending. */
	readonly at: readonly number[];
	readonly series: readonly ChartSeries[];
	/** `stack`: bars on top of each other. */
	readonly kind: "lines" | "stack";
	/** UTC days, or instants in the reader's time. */
	readonly axis: "days" | "clock";
	/** Formats a value in full; `axisFormat` may be shorter. */
	readonly format: (value: number) => string;
	readonly axisFormat?: (value: number) => string;
	readonly height?: number;
}

const DAY_SECONDS = 86_400;

/** A chart that shows its values above it under the pointer, and as a table for readers without the drawing. */
export function Chart({ title, at, series, kind, axis, format, axisFormat = format, height = 190 }: ChartProps) {
	const plot = useRef<HTMLDivElement>(null);
	const theme = useTheme();
	const [under, setUnder] = useState<number | null>(null);
	const [asTable, setAsTable] = useState(false);
	const tableId = useId();
	const data = useMemo(() => [[...at], ...drawn(kind, series)] as uPlot.AlignedData, [at, series, kind]);
	const shape = series.map(({ label, colour }) => `${label}\u0000${colour}`).join("\u0001");

	const chart = useRef<uPlot | null>(null);
	const latest = useRef({ data, axisFormat });
	latest.current = { data, axisFormat };
	// A new theme or other series create a new drawing; new values only update it.
	// biome-ignore lint/correctness/useExhaustiveDependencies: theme and shape stand for what the options are made of
	useEffect(() => {
		const element = plot.current;
		if (element === null) return;
		const drawing = new uPlot(
			options({ element, height, series, kind, axis, format: (value) => latest.current.axisFormat(value), onPointer: setUnder }),
			latest.current.data,
			element,
		);
		chart.current = drawing;
		const resized = new ResizeObserver(() => drawing.setSize({ width: element.clientWidth, height }));
		resized.observe(element);
		return () => {
			resized.disconnect();
			drawing.destroy();
			chart.current = null;
		};
	}, [theme, shape, kind, axis, height]);
	useEffect(() => chart.current?.setData(data), [data]);

	const name = (index: number) => momentName(at[index], axis);
	const shown = under ?? at.length - 1;
	return (
		<figure className="chart" aria-label={title}>
			<div className="chart-head">
				<ul className="chart-key">
					<li className="quiet">{name(shown)}</li>
					{series.map(({ label, values, colour }) => (
						<li key={label}>
							<span className={`swatch swatch-${colour}`} /> {label} {textOf(values[shown], format)}
						</li>
					))}
				</ul>
				<button
					type="button"
					className="button button-small button-plain"
					aria-expanded={asTable}
					aria-controls={tableId}
					onClick={() => setAsTable(!asTable)}
				>
					{asTable ? "Chart" : "Table"}
				</button>
			</div>
			<div ref={plot} className="chart-plot" hidden={asTable} role="img" aria-label={`${title}: as a chart`} />
			<div id={tableId}>
				{asTable ? (
					// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
					<section className="table-frame table-frame-tall" aria-label={`${title}: as a table`} tabIndex={0}>
						<table className="table">
							<thead>
								<tr>
									<th scope="col">{axis === "days" ? "Day (UTC)" : "Time"}</th>
									{series.map(({ label }) => (
										<th key={label} scope="col" className="number">
											{label}
										</th>
									))}
								</tr>
							</thead>
							<tbody>
								{at.map((second, index) => (
									<tr key={second}>
										<th scope="row">{name(index)}</th>
										{series.map(({ label, values }) => (
											<td key={label} className="number">
												{textOf(values[index], format)}
											</td>
										))}
									</tr>
								))}
							</tbody>
						</table>
					</section>
				) : null}
			</div>
		</figure>
	);
}

const textOf = (value: number | null | undefined, format: (value: number) => string): string =>
	value === null || value === undefined ? "none" : format(value);

function momentName(second: number | undefined, axis: ChartProps["axis"]): string {
	if (second === undefined) return "";
	const instant = new Date(second * 1_000);
	return axis === "days" ? instant.toISOString().slice(0, 10) : localTime(instant);
}

/** Returns the values to draw: for a stack cumulated, the highest first. */
function drawn(kind: ChartProps["kind"], series: readonly ChartSeries[]): (number | null)[][] {
	if (kind === "lines") return series.map(({ values }) => [...values]);
	const sums: number[] = [];
	return series
		.map(({ values }) =>
			values.map((value, index) => {
				sums[index] = (sums[index] ?? 0) + (value ?? 0);
				return sums[index] ?? 0;
			}),
		)
		.reverse();
}

interface OptionParts extends Pick<ChartProps, "series" | "kind" | "axis" | "format"> {
	readonly element: HTMLElement;
	readonly height: number;
	readonly onPointer: (index: number | null) => void;
}

function options({ element, height, series, kind, axis, format, onPointer }: OptionParts): uPlot.Options {
	const colour = colours(element);
	const ordered = kind === "stack" ? series.toReversed() : series;
	const font = `11px ${getComputedStyle(element).fontFamily}`;
	const lines = { stroke: colour("--ink-3"), font, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
	return {
		width: element.clientWidth,
		height,
		legend: { show: false },
		padding: [8, 18, 0, 0],
		cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === "lines" } },
		scales: {
			x: { time: true, range: wholeRange(kind, axis) },
			y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
		},
		...(axis === "days" ? { tzDate: (second: number) => uPlot.tzDate(new Date(second * 1_000), "Etc/UTC") } : {}),
		axes: [
			{
				...lines,
				grid: { show: false },
				space: 72,
				size: 26,
				values: (self, splits) =>
					splits.map((second) => tick(second, (self.scales.x?.max ?? 0) - (self.scales.x?.min ?? 0), axis)),
				...(axis === "days" ? { incrs: [1, 2, 3, 5, 7, 14, 30, 61, 91].map((days) => days * DAY_SECONDS) } : {}),
			},
			{ ...lines, size: 64, values: (_, splits) => splits.map(format) },
		],
		series: [
			{},
			...ordered.map(
				({ label, colour: number }): uPlot.Series => ({
					label,
					stroke: colour(`--chart-${number}`),
					...(kind === "stack"
						? { width: 0, fill: colour(`--chart-${number}`), paths: bars, points: { show: false } }
						: { width: 1.75, spanGaps: false, points: { show: true, size: 6, filter: alone } }),
				}),
			),
		],
		hooks: { setCursor: [(self) => onPointer(self.cursor.idx ?? null)] },
	};
}

/** The range from the first instant to the last, with half a step more on both sides for bars or a single point. */
const wholeRange =
	(kind: ChartProps["kind"], axis: ChartProps["axis"]): uPlot.Range.Function =>
	({ data: [at] }) => {
		const [first = 0, last = first] = [at[0], at.at(-1)];
		const steps = at.length - 1;
		const half = steps > 0 ? (last - first) / steps / 2 : axis === "days" ? DAY_SECONDS / 2 : 1_800;
		return kind === "stack" || steps < 1 ? [first - half, last + half] : [first, last];
	};

/** Draws points without neighbours as dots, because they have no line. */
const alone: uPlot.Series.Points.Filter = (self, number) => {
	const values = self.data[number] ?? [];
	const hasValue = (index: number) => typeof values[index] === "number";
	return Array.from(values.keys()).filter((index) => hasValue(index) && !hasValue(index - 1) && !hasValue(index + 1));
};

/** Formats an instant for the axis, with its day if hours alone would repeat. */
function tick(second: number, span: number, axis: ChartProps["axis"]): string {
	const instant = new Date(second * 1_000);
	if (axis === "days") return instant.toISOString().slice(5, 10);
	return span > 1.5 * DAY_SECONDS ? localTime(instant).slice(5, 16) : localClock(instant);
}

const bars = uPlot.paths.bars?.({ size: [0.72, 40] }) ?? (() => null);

/** Returns a reader of design tokens in the current theme, because a canvas cannot use them. */
function colours(element: HTMLElement): (token: string) => string {
	return (token) => {
		const probe = document.createElement("span");
		probe.style.color = `var(${token})`;
		element.append(probe);
		const { color } = getComputedStyle(probe);
		probe.remove();
		return color;
	};
}
