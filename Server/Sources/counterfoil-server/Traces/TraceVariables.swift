import CounterfoilServer
import Foundation
import HTTPTypes
import NIOSSL

/// The environment variables of OpenTelemetry for traces.
///
/// They are read here and not by the library: it would log a header with a secret, end the process for a value that
/// it does not support, and use its defaults in place of other mistakes.
struct TraceVariables: Sendable {
    /// An error in a variable; it contains the name of the variable, and its value only if that cannot be secret.
    struct Refusal: Error, CustomStringConvertible {
        let description: String

        init(_ variable: String, _ reason: String) { description = "\(variable) \(reason)" }
    }

    private let values: [String: String]

    /// Creates the variables from an environment; empty ones count as not set.
    init(_ environment: [String: String]) {
        values = environment.filter { $0.key.hasPrefix("OTEL_") }.mapValues { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.value.isEmpty }
    }

    /// Returns the variables of this process, and removes them from its environment.
    ///
    /// The library would read them a second time. Call it once, before other threads run.
    static func take() -> TraceVariables {
        let environment = ProcessInfo.processInfo.environment
        for name in environment.keys where name.hasPrefix("OTEL_") { unsetenv(name) }
        return TraceVariables(environment)
    }

    // MARK: - Kinds of values

    func text(_ name: String) -> String? { values[name] }

    /// Returns a variable of the exporter, and its name; the one for traces goes before the one for all signals.
    private func exporter(_ suffix: String) -> (name: String, value: String)? {
        for name in ["OTEL_EXPORTER_OTLP_TRACES_\(suffix)", "OTEL_EXPORTER_OTLP_\(suffix)"] {
            if let value = values[name] { return (name, value) }
        }
        return nil
    }

    func isTrue(_ name: String) throws(Refusal) -> Bool {
        switch values[name]?.lowercased() {
        case "true": true
        case "false", nil: false
        default: throw Refusal(name, "must be true or false")
        }
    }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(Refusal) -> Int? {
        try values[name].map { text throws(Refusal) in try Self.number(name, text, range) }
    }

    func exporterNumber(_ suffix: String, _ range: ClosedRange<Int>) throws(Refusal) -> Int? {
        try exporter(suffix).map { given throws(Refusal) in try Self.number(given.name, given.value, range) }
    }

    private static func number(_ name: String, _ text: String, _ range: ClosedRange<Int>) throws(Refusal) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Refusal(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a list such as `name=value,name=value`, with percent-encoded values.
    private static func list(_ name: String, _ text: String) throws(Refusal) -> [(name: String, value: String)] {
        var list: [(name: String, value: String)] = []
        for item in text.split(separator: ",") {
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            // The text may be a secret.
            guard halves.count == 2, !halves[0].isEmpty, let value = halves[1].removingPercentEncoding else {
                throw Refusal(name, "must be a list of name=value, separated by commas, with percent-encoded values")
            }
            list.append((halves[0], value))
        }
        return list
    }

    // MARK: - The exporter

    /// Whether traces are not switched off.
    var sendsTraces: Bool {
        get throws(Refusal) {
            switch values["OTEL_TRACES_EXPORTER"] {
            case "otlp", nil: true
            case "none": false
            default: throw Refusal("OTEL_TRACES_EXPORTER", "must be otlp or none")
            }
        }
    }

    /// The URL to which spans are posted; nil if none is set.
    var endpoint: String? {
        get throws(Refusal) {
            guard let given = exporter("ENDPOINT") else { return nil }
            let url = URLComponents(string: given.value)
            // The URL is not repeated in the error, because it may contain a password.
            guard let url, ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false,
                url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
            else {
                throw Refusal(
                    given.name,
                    "must be an http or https URL without user, query and fragment, such as http://localhost:4318; "
                        + "a key belongs into OTEL_EXPORTER_OTLP_HEADERS")
            }
            // The library compares the scheme with `https` byte for byte.
            let text = (url.scheme?.lowercased() ?? "") + given.value.drop { $0 != ":" }
            if given.name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" { return text }
            return text + (text.hasSuffix("/") ? "v1/traces" : "/v1/traces")
        }
    }

    /// Throws unless spans are to be encoded as protobuf.
    ///
    /// The JSON of the library has identifiers in base64, and collectors expect hexadecimal digits.
    func checkProtocol() throws(Refusal) {
        guard let given = exporter("PROTOCOL"), given.value != "http/protobuf" else { return }
        throw Refusal(
            given.name,
            "must be http/protobuf; gRPC and JSON are not supported, so use the HTTP port of the collector, which "
                + "usually is 4318")
    }

    var headers: [(name: String, value: String)] {
        get throws(Refusal) {
            guard let given = exporter("HEADERS") else { return [] }
            let headers = try Self.list(given.name, given.value)
            guard headers.allSatisfy({ HTTPField.Name($0.name) != nil && HTTPField.isValidValue($0.value) }) else {
                throw Refusal(given.name, "contains characters that a header field cannot have")
            }
            return headers
        }
    }

    func checkCompression() throws(Refusal) {
        guard let given = exporter("COMPRESSION"), given.value != "none" else { return }
        throw Refusal(given.name, "must be none; compression is not supported")
    }

    /// Returns the path of a file with certificates in PEM format.
    ///
    /// The library reads it later, and does not report a mistake in it.
    func certificates(_ suffix: String) throws(Refusal) -> String? {
        guard let given = exporter(suffix) else { return nil }
        guard let certificates = try? NIOSSLCertificate.fromPEMFile(given.value), !certificates.isEmpty else {
            throw Refusal(given.name, "names the file \(given.value), which cannot be read or has no PEM certificate")
        }
        return given.value
    }

    /// Returns the path of a file with a private key in PEM format.
    private func key(_ suffix: String) throws(Refusal) -> String? {
        guard let given = exporter(suffix) else { return nil }
        guard (try? NIOSSLPrivateKey(file: given.value, format: .pem)) != nil else {
            throw Refusal(given.name, "names the file \(given.value), which cannot be read or has no PEM key")
        }
        return given.value
    }

    var clientCertificate: TraceSettings.ClientCertificate? {
        get throws(Refusal) {
            switch (try certificates("CLIENT_CERTIFICATE"), try key("CLIENT_KEY")) {
            case (let certificate?, let key?):
                return TraceSettings.ClientCertificate(certificatePath: certificate, keyPath: key)
            case (nil, nil): return nil
            default:
                throw Refusal(
                    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "needs OTEL_EXPORTER_OTLP_CLIENT_KEY, and the reverse")
            }
        }
    }

    // MARK: - Sampling and resource

    /// The sampler; without `OTEL_TRACES_SAMPLER`, one trace in a hundred.
    var sampler: TraceSampler {
        get throws(Refusal) {
            let name = values["OTEL_TRACES_SAMPLER"]
            switch name {
            case "always_on": return TraceSampler(ratio: 1, followsParent: false)
            case "always_off": return TraceSampler(ratio: 0, followsParent: false)
            case "parentbased_always_on": return TraceSampler(ratio: 1, followsParent: true)
            case "parentbased_always_off": return TraceSampler(ratio: 0, followsParent: true)
            case "traceidratio", "parentbased_traceidratio", nil:
                // The standard has the ratio 1 for a sampler without an argument.
                return TraceSampler(
                    ratio: try ratio ?? (name == nil ? 0.01 : 1), followsParent: name != "traceidratio")
            default:
                throw Refusal(
                    "OTEL_TRACES_SAMPLER",
                    "must be always_on, always_off, traceidratio, or one of them after parentbased_")
            }
        }
    }

    private var ratio: Double? {
        get throws(Refusal) {
            guard let text = values["OTEL_TRACES_SAMPLER_ARG"] else { return nil }
            guard let ratio = Double(text), (0...1).contains(ratio) else {
                throw Refusal("OTEL_TRACES_SAMPLER_ARG", "must be a number from 0 to 1, such as 0.01")
            }
            return ratio
        }
    }

    var resource: [String: String] {
        get throws(Refusal) {
            let name = "OTEL_RESOURCE_ATTRIBUTES"
            guard let text = values[name] else { return [:] }
            return Dictionary(try Self.list(name, text).map { ($0.name, $0.value) }) { _, last in last }
        }
    }
}
