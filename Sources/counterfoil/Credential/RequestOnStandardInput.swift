import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The request that another program writes to standard input.
enum RequestOnStandardInput {
    private static let limit = 64 * 1024

    /// Reads standard input to its end; throws if it is longer than 64 KiB or is not UTF-8.
    static func read() throws(Failure) -> String {
        let bytes = (try? systemReadAll(STDIN_FILENO, limit: limit + 1)) ?? []
        if bytes.count <= limit, let text = String(validUTF8: bytes) { return text }
        throw Failure(.usage, "the request on standard input is longer than \(limit) bytes, or is not UTF-8")
    }
}
