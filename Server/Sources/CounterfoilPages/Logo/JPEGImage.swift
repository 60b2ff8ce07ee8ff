import CTurboJPEG
import CounterfoilServer

/// The JPEG codec, based on TurboJPEG.
enum JPEGImage {
    /// Decodes a JPEG and turns the image upright; a large image is decoded at a reduced size to save memory.
    static func decode(_ bytes: [UInt8]) throws(LogoRefusal) -> Raster {
        guard let decoder = tjInitDecompress() else { throw .damaged }
        defer { tjDestroy(decoder) }
        var (width, height, subsampling, colours) = (CInt(0), CInt(0), CInt(0), CInt(0))
        guard
            tjDecompressHeader3(
                decoder, bytes, CUnsignedLong(bytes.count), &width, &height, &subsampling, &colours) == 0
        else { throw .damaged }
        try LogoCodec.checkSize(width: Int(width), height: Int(height))
        guard colours != TJCS_CMYK.rawValue, colours != TJCS_YCCK.rawValue else { throw .printColours }

        let size = smallest(width: Int(width), height: Int(height))
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        guard
            tjDecompress2(
                decoder, bytes, CUnsignedLong(bytes.count), &pixels, CInt(size.width), 0, CInt(size.height),
                CInt(TJPF_RGBA.rawValue), TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) == 0
        else { throw .damaged }
        return Raster(width: size.width, height: size.height, pixels: pixels).turned(Orientation(ofJPEG: bytes))
    }

    /// Encodes opaque pixels; nil if TurboJPEG fails, for example for lack of memory.
    static func encode(_ raster: Raster, quality: Int) -> [UInt8]? {
        guard let encoder = tjInitCompress() else { return nil }
        defer { tjDestroy(encoder) }
        var jpeg: UnsafeMutablePointer<UInt8>?
        var size = CUnsignedLong(0)
        defer { tjFree(jpeg) }
        guard
            tjCompress2(
                encoder, raster.pixels, CInt(raster.width), 0, CInt(raster.height), CInt(TJPF_RGBX.rawValue),
                &jpeg, &size, CInt(TJSAMP_420.rawValue), CInt(quality), 0) == 0, let jpeg
        else { return nil }
        return Array(UnsafeBufferPointer(start: jpeg, count: Int(size)))
    }

    /// Finds the smallest size for decoding at which the longer side of the image is at least twice as long as a side
    /// of a logo.
    ///
    /// A JPEG consists of blocks of 8 × 8 pixels, so the decoder can reduce the size in steps of one eighth.
    private static func smallest(width: Int, height: Int) -> (width: Int, height: Int) {
        for eighths in 1..<8 {
            let scaled = ((width * eighths + 7) / 8, (height * eighths + 7) / 8)
            if max(scaled.0, scaled.1) >= 2 * LogoEncoder.side { return scaled }
        }
        return (width, height)
    }
}
