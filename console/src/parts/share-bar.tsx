import { Meter } from "@base-ui/react/meter";
import { Progress } from "@base-ui/react/progress";

/** A share of a whole, as a bar with its value. */
export function ShareBar({ label, share, text }: { readonly label: string; readonly share: number; readonly text: string }) {
	return (
		<Meter.Root value={Math.min(share, 1) * 100} aria-label={label} aria-valuetext={text}>
			<Meter.Track className="meter">
				<Meter.Indicator className="meter-part" />
			</Meter.Track>
		</Meter.Root>
	);
}

/** A progress bar. */
export function ProgressBar({ label, share, text }: { readonly label: string; readonly share: number; readonly text: string }) {
	return (
		<Progress.Root value={Math.min(share, 1) * 100} aria-label={label} aria-valuetext={text}>
			<Progress.Track className="meter">
				<Progress.Indicator className="meter-part" />
			</Progress.Track>
		</Progress.Root>
	);
}
