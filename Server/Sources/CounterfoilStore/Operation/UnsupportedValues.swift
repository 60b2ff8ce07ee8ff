@_spi(Counterfoil) import CounterfoilProtocol
package import Logging

/// A value in a stored record that this version cannot use.
///
/// Servers of two versions can use one store at the same time. A newer version can store an enumeration value, or a
/// form of a value, that an older one does not have. A list also leaves out a record with an invalid value, such as a
/// malformed identifier, which no version has written.
public struct UnsupportedValue: Sendable, Hashable, CustomStringConvertible {
    /// The kind of the record, such as `client`.
    public let record: String
    /// The name of the column, such as `pkce_policy`.
    public let column: String
    /// The value; nil unless it is a short word that can appear in a log.
    public let text: String?
    /// Whether the value is invalid, and not that of a newer version.
    public let isInvalid: Bool

    /// The maximum length of ``text`` in bytes.
    private static let textLimit = 40

    /// Creates a description of a value.
    ///
    /// - Parameters:
    ///   - record: The kind of the record.
    ///   - column: The name of the column.
    ///   - text: The value; it is omitted unless it has 1 to 40 printable ASCII characters and no space.
    ///   - isInvalid: Whether the value is invalid, and not that of a newer version.
    public init(record: String, column: String, text: String? = nil, isInvalid: Bool = false) {
        self.isInvalid = isInvalid
        self.record = record
        self.column = column
        self.text = text.flatMap { text in
            let isWord =
                (1...Self.textLimit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return isWord ? text : nil
        }
    }

    /// The meaning of the value, and what to do.
    public var description: String {
        isInvalid
            ? "a \(record) has an invalid value in \(column); " + Self.adviceForInvalid
            : "a \(record) has a value in \(column) that this version does not know\(text.map { ", \($0)" } ?? ""); "
                + Self.advice
    }

    /// The cause of an unsupported value, and what an operator can do.
    public static let advice =
        "a newer version has written it, so update this program, or change the record with the newer version"

    /// The cause of an invalid value, and what an operator can do.
    static let adviceForInvalid =
        "another program has changed the database, so restore a backup, or delete the record"
}

/// Reports each unsupported value once, however often the store reads it.
///
/// A store that leaves a record out of a list has no other way to tell the operator.
public final class UnsupportedValues: Sendable {
    /// The maximum number of values that are reported; later ones are not.
    package static let limit = 100

    /// The values that were reported, by this reporter and by those that are bound to a request.
    private final class Reported: Sendable {
        let values = Mutex<Set<UnsupportedValue>>([])
    }

    private let reported: Reported
    private let report: @Sendable (UnsupportedValue, RequestContext?) -> Void
    private let request: RequestContext?

    private init(
        _ reported: Reported, for request: RequestContext?,
        reporting report: @escaping @Sendable (UnsupportedValue, RequestContext?) -> Void
    ) {
        self.reported = reported
        self.request = request
        self.report = report
    }

    /// Creates a reporter with the function that it calls once for each value.
    public convenience init(_ report: @escaping @Sendable (UnsupportedValue) -> Void) {
        self.init(Reported(), for: nil) { value, _ in report(value) }
    }

    /// Returns this reporter for the operations of one request.
    package func serving(_ request: RequestContext) -> UnsupportedValues {
        request.span == nil ? self : UnsupportedValues(reported, for: request, reporting: report)
    }

    /// Reports a value, unless it was reported before.
    public func note(_ value: UnsupportedValue) {
        let isNew = reported.values.withLock { reported in
            reported.count < Self.limit && reported.insert(value).inserted
        }
        if isNew { report(value, request) }
    }

    /// Reports the value of a fault, if the fault is ``StoreFault/unsupported(_:)``.
    public func note(_ fault: StoreFault) {
        if case .unsupported(let value) = fault { note(value) }
    }
}

extension UnsupportedValues {
    /// Creates a reporter that writes a warning to a log.
    package convenience init(logger: Logger) {
        self.init(Reported(), for: nil) { value, request in
            var metadata: Logger.Metadata = ["record": "\(value.record)", "column": "\(value.column)"]
            if let span = request?.span { metadata["trace_id"] = "\(span.traceID)" }
            guard !value.isInvalid else {
                metadata["advice"] = "\(UnsupportedValue.adviceForInvalid)"
                return logger.error("did not use a record, because one of its values is invalid", metadata: metadata)
            }
            metadata["advice"] = "\(UnsupportedValue.advice)"
            if let text = value.text { metadata["value"] = "\(text)" }
            logger.warning(
                "did not use a record, because this version does not know one of its values", metadata: metadata)
        }
    }
}

extension StoreFault {
    /// Returns the result of a read; nil if the record has a value that this version does not know.
    ///
    /// It is for pages and lists that show a record only as an addition to others.
    package static func supported<Value>(
        _ read: () async throws(StoreFault) -> Value?
    ) async throws(StoreFault) -> Value? {
        do {
            return try await read()
        } catch .unsupported {
            return nil
        }
    }
}
