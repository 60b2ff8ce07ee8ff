import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A client for a WebDriver remote end (W3C WebDriver §6).
struct WebDriverConnection: Sendable {
    /// The URL of the remote end, or of a session.
    let address: String

    /// Sends a command and returns its `value`.
    func send(_ method: HTTPMethod, _ path: String, _ body: JSONValue = [:]) async throws -> JSONValue {
        var request = HTTPClientRequest(url: address + path)
        request.method = method
        if method == .POST {
            request.headers.add(name: "content-type", value: "application/json; charset=utf-8")
            request.body = .bytes(try JSONEncoder().encode(body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 64 << 20)
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(bytes.readableBytesView))
        guard let value = answer["value"] else { throw WebDriverError.notUnderstood("\(method) \(path)") }
        if response.status.code >= 400 {
            let message = value["message"]?.string?.prefix { $0 != "\n" } ?? ""
            let code = value["error"]?.string ?? "status \(response.status.code)"
            throw WebDriverError.refused(command: "\(method) \(path)", code: code, message: String(message))
        }
        return value
    }
}
