import Foundation

/// The results of a run; times are in milliseconds unless the name says otherwise.
struct Report: Encodable {
    let mode: String
    let connections: Int
    let operations: Int
    let errors: Int
    let firstError: String?
    let seconds: Double
    let rate: Double
    let median: Double?
    let percentile99: Double?
    let serverMillisecondsPerOperation: Double?
    let memoryMiB: Double?

    enum CodingKeys: String, CodingKey {
        case mode
        case connections
        case operations = "ops"
        case errors
        case firstError = "first_error"
        case seconds
        case rate
        case median = "p50"
        case percentile99 = "p99"
        case serverMillisecondsPerOperation = "server_cpu_ms_per_op"
        case memoryMiB = "rss_mib_max"
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
