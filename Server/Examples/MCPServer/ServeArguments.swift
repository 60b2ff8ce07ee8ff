import ArgumentParser
import CounterfoilProtocol
import Foundation

/// The host and port on which the server listens.
struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    let host: String
    let port: Int

    /// Parses `HOST:PORT`; an IPv6 host must be in brackets.
    init(_ argument: String) throws {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...])
        else {
            throw ValidationError("Write it as HOST:PORT, for example 127.0.0.1:8091.")
        }
        var host = argument[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw ValidationError("Write an IPv6 address in brackets, for example [::1]:8091.")
        }
        guard !host.isEmpty else { throw ValidationError("Add the host, for example 127.0.0.1:\(port).") }
        self.host = String(host)
        self.port = Int(port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension MCPServerCommand {
    /// Parses the argument of `--issuer`.
    static func issuer(_ argument: String) throws -> Issuer {
        do { return try Issuer(ofServer: argument) } catch { throw ValidationError("\(error)") }
    }

    /// Parses the argument of `--audience`, the URL of the endpoint (RFC 8707 §2, RFC 9728 §1.2).
    static func endpoint(_ argument: String) throws -> AbsoluteURI {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: argument) } catch { throw ValidationError("\(error)") }
        guard ["http", "https"].contains(uri.scheme), uri.host?.isEmpty == false, uri.userInformation == nil,
            uri.query == nil, uri.fragment == nil, uri.path.utf8.allSatisfy(isPlain)
        else { throw ValidationError("Write it as a URL such as https://notes.example.com/mcp.") }
        return uri
    }

    /// Returns true for the characters that have no meaning of their own in a route.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        case UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// Parses the argument of `--allow-origin`, which must equal the `Origin` field of a browser byte for byte.
    static func origin(_ argument: String) throws -> String {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: argument) } catch { throw ValidationError("\(error)") }
        guard ["http", "https"].contains(uri.scheme), uri.path.isEmpty, uri.query == nil, uri.fragment == nil else {
            throw ValidationError("It must be scheme, host and port only, for example http://localhost:5173.")
        }
        return uri.rawValue
    }

    /// Parses the argument of `--client-id`.
    static func clientID(_ argument: String) throws -> ClientIdentifier {
        guard let clientID = ClientIdentifier(argument) else { throw ValidationError("It is not a valid client_id.") }
        return clientID
    }

    /// Reads the client secret from the first line of the file that `--client-secret-file` names.
    static func secret(inFile path: String) throws -> ClientSecret {
        let text: String
        do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
            throw ValidationError("The file cannot be read: \(error.localizedDescription)")
        }
        let line = text.prefix { !$0.isNewline }
        guard let secret = ClientSecret(String(line)) else {
            throw ValidationError("The first line of the file must be the secret, 1 to 1024 visible characters.")
        }
        return secret
    }
}
