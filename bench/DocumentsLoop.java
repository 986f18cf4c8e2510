import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.tika.metadata.Metadata;
import org.apache.tika.parser.AutoDetectParser;
import org.apache.tika.parser.ParseContext;
import org.apache.tika.parser.Parser;
import org.apache.tika.parser.ocr.TesseractOCRConfig;
import org.apache.tika.sax.BodyContentHandler;

/** Reads each file some times with Apache Tika: its text to a file, the median milliseconds to stdout. */
public class DocumentsLoop {
	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		AutoDetectParser parser = new AutoDetectParser();
		ParseContext context = new ParseContext();
		context.set(Parser.class, parser);
		// It would read the pictures in each file, which the others do not.
		TesseractOCRConfig pictures = new TesseractOCRConfig();
		pictures.setSkipOcr(true);
		context.set(TesseractOCRConfig.class, pictures);
		for (int file = 2; file < args.length; file++) {
			Path path = Path.of(args[file]);
			double[] times = new double[rounds];
			String text = "";
			for (int round = 0; round < rounds; round++) {
				long startedAt = System.nanoTime();
				BodyContentHandler handler = new BodyContentHandler(-1);
				try (var stream = org.apache.tika.io.TikaInputStream.get(path)) {
					parser.parse(stream, handler, new Metadata(), context);
				}
				text = handler.toString();
				times[round] = (System.nanoTime() - startedAt) / 1e6;
			}
			Arrays.sort(times);
			Files.writeString(Path.of(args[1], path.getFileName() + ".txt"), text);
			System.out.println(times[rounds / 2]);
		}
	}
}
