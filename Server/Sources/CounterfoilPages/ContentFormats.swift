package import CounterfoilServer

extension ContentFormats {
    /// CommonMark, PNG and JPEG.
    package static let standard = ContentFormats(html: ConsentTextWriter.html(of:), logo: LogoCodec.logo(from:))
}
