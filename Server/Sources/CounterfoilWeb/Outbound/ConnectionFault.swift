import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// The reason why a connection to a server failed, in words for operators.
struct ConnectionFault: CustomStringConvertible {
    let description: String

    private static let closed = "the connection was closed before the answer"
    private static let late = "there was no answer in time"

    init(_ error: any Error) {
        description =
            switch error {
            case let error as NIOSSLExtraError: Self.words(for: error)
            case let error as NIOConnectionError: Self.words(for: error)
            case let error as IOError: String(cString: strerror(error.errnoCode))
            case ChannelError.connectTimeout: Self.late
            case ChannelError.eof, ChannelError.inputClosed, ChannelError.ioOnClosedChannel: Self.closed
            case let error as HTTPClientError: Self.words(for: error)
            default: Self.wordsOfTLS(for: error) ?? "\(error)"
            }
    }

    private static func words(for error: NIOSSLExtraError) -> String {
        let hosts = [NIOSSLExtraError.failedToValidateHostname, .serverHostnameImpossibleToMatch]
        return hosts.contains(error) ? "its certificate is for another host name" : "\(error)"
    }

    private static func words(for error: NIOConnectionError) -> String {
        guard !error.connectionErrors.isEmpty else {
            return "the name \(error.host) has no address that this machine can find"
        }
        // A name can have several addresses, and each its own error.
        var words: [String] = []
        for failure in error.connectionErrors.map({ "\(ConnectionFault($0.error))" }) where !words.contains(failure) {
            words.append(failure)
        }
        return words.joined(separator: "; ")
    }

    private static func words(for error: HTTPClientError) -> String {
        let late = [HTTPClientError.connectTimeout, .readTimeout, .deadlineExceeded, .tlsHandshakeTimeout]
        if late.contains(error) { return Self.late }
        return error == .remoteConnectionClosed ? closed : "\(error)"
    }

    /// Returns the words for an error of the TLS library; nil for another error.
    ///
    /// The library has no other names for its reasons than the texts of BoringSSL.
    private static func wordsOfTLS(for error: any Error) -> String? {
        guard String(reflecting: type(of: error)).hasPrefix("NIOSSL.") else { return nil }
        let text = "\(error)"
        let noTLS = "the server does not speak TLS on this port"
        let noVersion = "the server has no TLS version or cipher in common with this program, or refuses this client"
        let reasons = [
            (
                "CERTIFICATE_VERIFY_FAILED",
                "its certificate is not valid now, or its chain is incomplete, or no authority that this machine trusts "
                    + "has issued it"
            ),
            ("WRONG_VERSION_NUMBER", noTLS), ("HTTP_REQUEST", noTLS), ("UNSUPPORTED_PROTOCOL", noVersion),
            ("PROTOCOL_VERSION", noVersion), ("HANDSHAKE_FAILURE", noVersion), ("NO_SHARED_CIPHER", noVersion),
            ("CERTIFICATE_REQUIRED", "the server requires a client certificate"),
            ("EOF during handshake", "the server closed the connection during the TLS handshake"),
            ("uncleanShutdown", closed),
        ]
        return reasons.first { text.contains($0.0) }?.1 ?? "the TLS handshake failed (\(text.prefix(200)))"
    }
}
