import ArgumentParser
import CounterfoilProtocol

/// The address on which the API listens.
struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    let host: String
    let port: Int

    /// Reads `HOST:PORT`; an IPv6 host stands in brackets.
    init(_ argument: String) throws {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...])
        else {
            throw ValidationError("Write it as HOST:PORT, for example 127.0.0.1:8090.")
        }
        var host = argument[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw ValidationError("Write an IPv6 address in brackets, for example [::1]:8090.")
        }
        guard !host.isEmpty else { throw ValidationError("Name the host as well, for example 127.0.0.1:\(port).") }
        self.host = String(host)
        self.port = Int(port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Serve {
    /// Reads the argument of `--issuer`.
    static func issuer(_ argument: String) throws -> Issuer {
        do { return try Issuer(ofServer: argument) } catch { throw ValidationError("\(error)") }
    }

    /// Reads the argument of `--audience`: a URL, compared byte for byte with the `aud` of tokens.
    static func audience(_ argument: String) throws -> String {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: argument) } catch { throw ValidationError("\(error)") }
        // RFC 8707 §2: a resource is an absolute URI without fragment.
        guard uri.fragment == nil else { throw ValidationError("It must not have a fragment (#…).") }
        return uri.rawValue
    }
}
