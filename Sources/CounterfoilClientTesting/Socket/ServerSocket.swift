@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation
import HTTPTypes

extension ScriptedAuthorizationServer {
    /// Runs a server until `body` returns, and returns the result of `body`.
    ///
    /// `host` is the loopback address of the server. `now` is its clock, to which the server adds the clock offset of
    /// its script.
    @discardableResult
    public static func run<Result: Sendable>(
        _ script: ServerScript = ServerScript(),
        host: LoopbackHost = .ipv4,
        now: @escaping @Sendable () -> Date = { Date() },
        _ body: @escaping @Sendable (ScriptedAuthorizationServer) async throws -> Result
    ) async throws -> Result {
        try await listen(script, host: host, vault: Vault(), now: now, body)
    }

    /// Runs two servers until `body` returns, as two data centres of one vendor.
    ///
    /// In the script of each server, `{sibling}` is the origin of the other server. The two servers share
    /// their codes and tokens, so a script can let one server accept the codes that the other server issued.
    @discardableResult
    public static func run<Result: Sendable>(
        _ script: ServerScript,
        sibling: ServerScript,
        now: @escaping @Sendable () -> Date = { Date() },
        _ body: @escaping @Sendable (ScriptedAuthorizationServer, ScriptedAuthorizationServer) async throws -> Result
    ) async throws -> Result {
        let vault = Vault()
        return try await listen(script, host: .ipv4, vault: vault, now: now) { server in
            try await listen(sibling, host: .ipv4, vault: vault, now: now) { other in
                server.setSibling(other.origin)
                other.setSibling(server.origin)
                return try await body(server, other)
            }
        }
    }

    private static func listen<Result: Sendable>(
        _ script: ServerScript, host: LoopbackHost, vault: Vault, now: @escaping @Sendable () -> Date,
        _ body: @escaping @Sendable (ScriptedAuthorizationServer) async throws -> Result
    ) async throws -> Result {
        let running = Mutex<ScriptedAuthorizationServer?>(nil)
        let listener = try await LoopbackServer(address: host == .ipv6 ? "::1" : host.rawValue) { exchange in
            guard let server = running.withLock({ $0 }) else { return try await exchange.send(503) }
            try await respond(to: exchange, of: server)
        }
        do {
            let server = try ScriptedAuthorizationServer(
                address: "http://\(host.rawValue):\(listener.port)", script: script, vault: vault, now: now)
            running.withLock { $0 = server }
            let result = try await body(server)
            await listener.stop()
            return result
        } catch {
            await listener.stop()
            throw error
        }
    }

    /// Responds to a request; `delivery` of the scripted answer decides whether the response is complete, cut short,
    /// endless, unfinished or missing.
    private static func respond(to exchange: HTTPExchange, of server: ScriptedAuthorizationServer) async throws {
        guard let request = exchange.request else { return try await exchange.send(400) }
        guard exchange.body.count <= RecordedRequest.byteLimit else { return try await exchange.send(413) }
        guard let answer = try? server.answer(to: request, body: exchange.body) else {
            return try await exchange.send(500)
        }
        let fields = answer.fields(at: Date().addingTimeInterval(TimeInterval(server.script.clockOffset)))
        switch (answer.delivery, answer.body) {
        case (.whole, .text(let text)):
            try await exchange.send(answer.status, fields, body: Array(text.utf8))
        case (.whole, .spaces(let count)):
            exchange.begin(answer.status, fields, length: count)
            let chunk = 1 << 16
            for start in stride(from: 0, to: count, by: chunk) {
                try await exchange.send(repeatElement(UInt8(ascii: " "), count: min(chunk, count - start)))
            }
            try await exchange.end()
        case (.closed, _):
            try await exchange.close()
        case (.silent, _):
            try await exchange.waitForEnd()
        case (.cutShort, .text(let text)):
            exchange.begin(answer.status, fields)
            try await exchange.send(text.utf8.prefix(text.utf8.count / 2))
            try await exchange.close()
        case (.unfinished, .text(let text)):
            exchange.begin(answer.status, fields)
            try await exchange.send(text.utf8)
            try await exchange.waitForEnd()
        case (.endless, _), (.cutShort, .spaces), (.unfinished, .spaces):
            exchange.begin(answer.status, fields)
            while exchange.isOpen {
                try await exchange.send(" ".utf8)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}

extension ScriptedAnswer {
    /// The header fields with a valid name, and `Date` (RFC 9110 §6.6.1); fields with an invalid name are omitted.
    fileprivate func fields(at time: Date) -> HTTPFields {
        var fields: HTTPFields = [.date: HTTPDateText.text(of: time)]
        for field in headerFields {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(HTTPField(name: name, value: field.value))
        }
        return fields
    }
}

/// Dates in header fields (RFC 9110 §5.6.7).
private enum HTTPDateText {
    /// Formats a date as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(of date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
