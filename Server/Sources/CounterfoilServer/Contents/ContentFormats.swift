package import CounterfoilStore

/// The parsers of Markdown texts and images, which the server gets with its pages.
///
/// The server itself decides what is accepted, and keeps the results. The parsers need libraries in C, so they are in a
/// module above it.
package struct ContentFormats: Sendable {
    /// Writes a Markdown text as HTML with allowed elements only; ``ConsentText`` has checked the source.
    let html: @Sendable (_ markdown: String) throws(ConsentText.Refusal) -> [UInt8]
    /// Encodes the pixels of an uploaded image as a logo on the calling thread, which can take up to a second.
    package let logo: @Sendable (_ upload: [UInt8]) throws(LogoRefusal) -> Logo

    package init(
        html: @escaping @Sendable (_ markdown: String) throws(ConsentText.Refusal) -> [UInt8],
        logo: @escaping @Sendable (_ upload: [UInt8]) throws(LogoRefusal) -> Logo
    ) {
        self.html = html
        self.logo = logo
    }
}
