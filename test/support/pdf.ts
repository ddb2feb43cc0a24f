/** Writes PDFs object by object, also ones that no program would write. */

/** @param objects the first is the catalogue; object n stands at n - 1 and is referred to as `n 0 R` */
export function pdfOf(objects: readonly (Buffer | string)[]): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [];
  let length = parts[0]!.byteLength;
  const append = (part: Buffer): void => {
    parts.push(part);
    length += part.byteLength;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    append(
      Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")]),
    );
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  append(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** @param entries of the dictionary, such as `/Filter /FlateDecode` */
export function streamOf(entries: string, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([
    Buffer.from(`<< ${entries} /Length ${bytes.byteLength} >>\nstream\n`),
    bytes,
    Buffer.from("\nendstream"),
  ]);
}

/** A page without text, and files embedded in the document under the given keys. */
export function pdfWithFiles(files: readonly { key: string; name: string; stream: Buffer }[]): Buffer {
  const firstFile = 4;
  const names = files.map(({ key }, index) => `(${key}) ${firstFile + 2 * index} 0 R`).join(" ");
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [${names}] >> >> >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
    ...files.flatMap(({ name, stream }, index) => [
      `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F ${firstFile + 2 * index + 1} 0 R >> >>`,
      stream,
    ]),
  ]);
}
