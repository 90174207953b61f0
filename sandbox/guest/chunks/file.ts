import { createBlob } from "../file/blob.ts";
import { createFileReader } from "../file/fileReader.ts";
import { createFormData } from "../file/formData.ts";
import { decodeMultipart, encodeMultipart } from "../file/multipart.ts";
import type { Internals } from "../internals.ts";

/** File API: `Blob`, `File`, `FileReader`; XMLHttpRequest Standard: `FormData`. */
export default function fileChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const blobs = createBlob(internals);
  const forms = createFormData(blobs);
  const { FormData, entriesOf } = forms;
  return {
    Blob: blobs.Blob,
    File: blobs.File,
    FileReader: createFileReader(internals),
    FormData,
    isBlob: blobs.isBlob,
    bytesOfBlob: blobs.bytesOfBlob,
    /** Encodes a form as bytes with their content type. */
    encodeForm: (form: InstanceType<typeof FormData>) => {
      const { parts, boundary } = encodeMultipart(entriesOf(form));
      const blob = new blobs.Blob(parts);
      return { bytes: blobs.bytesOfBlob(blob), blob, type: `multipart/form-data; boundary=${boundary}` };
    },
    decodeForm: (bytes: Uint8Array<ArrayBuffer>, boundary: string) =>
      decodeMultipart(bytes, boundary, blobs, forms, internals),
  };
}
