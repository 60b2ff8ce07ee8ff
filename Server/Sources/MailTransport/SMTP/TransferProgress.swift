import NIOConcurrencyHelpers

/// The bytes of a mail on their way to a server, and the last line of the last refusal.
///
/// The thread of the transfer uses it. Any thread can cancel.
final class TransferProgress: Sendable {
    private struct State {
        var sent = 0
        var isCancelled = false
        var lastRefusal: [UInt8] = []
    }

    /// The longest line of a reply that is kept (RFC 5321 §4.5.3.1.5).
    private static let lineLimit = 512

    private let bytes: [UInt8]
    private let state = NIOLockedValueBox(State())

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Ends the transfer, unless the whole mail was handed over: the server may have accepted it by then.
    func cancel() { state.withLockedValue { $0.isCancelled = true } }

    /// The last line with which the server refused a command; empty if it refused none.
    var lastRefusal: String { String(decoding: state.withLockedValue { $0.lastRefusal }, as: UTF8.self) }

    private var mustEnd: Bool { state.withLockedValue { $0.isCancelled && $0.sent < bytes.count } }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLockedValue { state in
            let count = min(buffer.count, bytes.count - state.sent)
            bytes.withUnsafeBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[state.sent..<state.sent + count]))
            }
            state.sent += count
            return count
        }
    }

    private func note(line: UnsafeRawBufferPointer) {
        // The reply to QUIT follows a refusal.
        guard let first = line.first, first == UInt8(ascii: "4") || first == UInt8(ascii: "5") else { return }
        state.withLockedValue { $0.lastRefusal = Array(line.prefix(Self.lineLimit)) }
    }

    /// Sets the functions that the library calls; this object must live until the transfer has ended.
    func connect(to transfer: CurlLibrary.Transfer) {
        let context = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        // size_t read(char *buffer, size_t size, size_t count, void *context)
        let read: @convention(c) (UnsafeMutableRawPointer?, Int, Int, UnsafeRawPointer?) -> Int = {
            guard let buffer = $0, let context = $3 else { return 0 }
            return TransferProgress.at(context).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: $1 * $2))
        }
        // size_t header(char *buffer, size_t size, size_t count, void *context)
        let header: @convention(c) (UnsafeMutableRawPointer?, Int, Int, UnsafeRawPointer?) -> Int = {
            guard let buffer = $0, let context = $3 else { return 0 }
            TransferProgress.at(context).note(line: UnsafeRawBufferPointer(start: buffer, count: $1 * $2))
            return $1 * $2
        }
        // int progress(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
        let progress: @convention(c) (UnsafeRawPointer?, Int64, Int64, Int64, Int64) -> CInt = { context, _, _, _, _ in
            context.map { TransferProgress.at($0).mustEnd ? 1 : 0 } ?? 0
        }
        transfer.setPointer(.readFunction, unsafeBitCast(read, to: UnsafeRawPointer.self))
        transfer.setPointer(.readData, context)
        transfer.setPointer(.headerFunction, unsafeBitCast(header, to: UnsafeRawPointer.self))
        transfer.setPointer(.headerData, context)
        transfer.setPointer(.transferInfoFunction, unsafeBitCast(progress, to: UnsafeRawPointer.self))
        transfer.setPointer(.transferInfoData, context)
        transfer.set(.noProgress, 0)
    }

    private static func at(_ context: UnsafeRawPointer) -> TransferProgress {
        Unmanaged<TransferProgress>.fromOpaque(context).takeUnretainedValue()
    }
}
