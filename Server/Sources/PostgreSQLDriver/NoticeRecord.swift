import CLibPQ

/// The receiver of the notices and warnings of one connection; without it, libpq writes them to standard error.
///
/// It is used by the thread of the connection alone, as libpq calls it from its own functions.
final class NoticeRecord {
    /// Whether the server has acknowledged a commit of this request though a synchronous standby may not have it.
    ///
    /// An administrator has cancelled the statement while it waited for the standby. The server then sends a warning
    /// and the success.
    private(set) var skippedReplication = false
    /// The messages of the level INFO in this transaction, which the server sends whatever its settings are.
    private(set) var infos: Set<String> = []

    func startTransaction() { infos = [] }

    func startRequest() { skippedReplication = false }

    /// Installs this receiver; the connection and its results must not outlive it.
    func attach(to handle: OpaquePointer) {
        PQsetNoticeReceiver(
            handle,
            { context, result in
                guard let context, let result else { return }
                let record = Unmanaged<NoticeRecord>.fromOpaque(context).takeUnretainedValue()
                func field(_ code: Character) -> String? {
                    PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
                }
                if field("V") == "INFO", let message = field("M") { record.infos.insert(message) }
                // The texts of notices depend on the language of the server; the name of the function does not.
                if field("R") == "SyncRepWaitForLSN" { record.skippedReplication = true }
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
