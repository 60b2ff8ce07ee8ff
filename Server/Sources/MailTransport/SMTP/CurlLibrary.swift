import CCurl

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The functions of libcurl, which the system loads at run time (`curl/curl.h`).
///
/// The library stays loaded. Several threads can use it at once, each with its own handle.
struct CurlLibrary: @unchecked Sendable {
    /// The names under which systems install the library, which has kept its binary interface since 2006.
    ///
    /// On Linux, the dynamic linker looks for a name without a slash in the folders of the system and of
    /// `LD_LIBRARY_PATH`, and never in the current folder.
    static let names: [String] = {
        #if canImport(Darwin)
            ["/usr/lib/libcurl.4.dylib"]
        #else
            ["libcurl.so.4"]
        #endif
    }()

    /// The library of the system; nil if it has none.
    static let system = CurlLibrary(anyOf: names)

    // CURLcode curl_global_init(long flags)
    private typealias GlobalInit = @convention(c) (CLong) -> CInt
    // CURL *curl_easy_init(void)
    private typealias EasyInit = @convention(c) () -> UnsafeMutableRawPointer?
    // CURLcode curl_easy_perform(CURL *)
    private typealias EasyPerform = @convention(c) (UnsafeMutableRawPointer) -> CInt
    // void curl_easy_cleanup(CURL *)
    private typealias EasyCleanup = @convention(c) (UnsafeMutableRawPointer) -> Void
    // struct curl_slist *curl_slist_append(struct curl_slist *, const char *)
    private typealias ListAppend =
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?
    // void curl_slist_free_all(struct curl_slist *)
    private typealias ListFree = @convention(c) (UnsafeMutableRawPointer) -> Void

    private let easyInit: EasyInit
    private let easyPerform: EasyPerform
    private let easyCleanup: EasyCleanup
    private let listAppend: ListAppend
    private let listFree: ListFree
    private let setOption: UnsafeMutableRawPointer

    /// The argument of `curl_global_init` that sets up everything (`CURL_GLOBAL_DEFAULT`).
    private static let everything: CLong = 3

    /// Loads the first library that the system has; nil if it has none.
    init?(anyOf names: [String]) {
        for name in names {
            guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            guard let initialize = dlsym(library, "curl_global_init"), let easyInit = dlsym(library, "curl_easy_init"),
                let easyPerform = dlsym(library, "curl_easy_perform"),
                let easyCleanup = dlsym(library, "curl_easy_cleanup"),
                let listAppend = dlsym(library, "curl_slist_append"),
                let listFree = dlsym(library, "curl_slist_free_all"),
                let setOption = dlsym(library, "curl_easy_setopt"),
                unsafeBitCast(initialize, to: GlobalInit.self)(Self.everything) == 0
            else {
                dlclose(library)
                continue
            }
            self.easyInit = unsafeBitCast(easyInit, to: EasyInit.self)
            self.easyPerform = unsafeBitCast(easyPerform, to: EasyPerform.self)
            self.easyCleanup = unsafeBitCast(easyCleanup, to: EasyCleanup.self)
            self.listAppend = unsafeBitCast(listAppend, to: ListAppend.self)
            self.listFree = unsafeBitCast(listFree, to: ListFree.self)
            self.setOption = setOption
            return
        }
        return nil
    }

    /// A transfer, which one thread uses.
    final class Transfer {
        private let library: CurlLibrary
        private let handle: UnsafeMutableRawPointer
        private var recipients: UnsafeMutableRawPointer?
        /// The object that the functions of the transfer use, also while the handle is freed.
        private var context: AnyObject?
        /// The first option that the library did not know or accept.
        private(set) var refusedOption: CInt?

        /// Creates a transfer; nil if the memory is short.
        init?(_ library: CurlLibrary) {
            guard let handle = library.easyInit() else { return nil }
            self.library = library
            self.handle = handle
        }

        deinit {
            library.easyCleanup(handle)
            if let recipients { library.listFree(recipients) }
        }

        func set(_ option: CurlOption, _ value: Int) {
            note(counterfoil_curl_set_number(library.setOption, handle, option.rawValue, value), of: option)
        }

        /// Sets a text, which the library copies.
        func set(_ option: CurlOption, _ value: String) {
            note(value.withCString { set(option, UnsafeRawPointer($0)) }, of: option)
        }

        /// Sets a function or its context, which must live as long as the transfer.
        func setPointer(_ option: CurlOption, _ value: UnsafeRawPointer) { note(set(option, value), of: option) }

        /// Sets the contexts of functions, and keeps the object until the handle is freed.
        func setContext(_ object: AnyObject, of options: [CurlOption]) {
            context = object
            for option in options { setPointer(option, UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())) }
        }

        func setRecipient(_ address: MailAddress) {
            recipients = library.listAppend(nil, address.rawValue)
            guard let recipients else { return refusedOption = refusedOption ?? CurlOption.mailRecipients.rawValue }
            setPointer(.mailRecipients, recipients)
        }

        /// Runs the transfer, and returns its result.
        func perform() -> CurlResult { CurlResult(rawValue: library.easyPerform(handle)) }

        private func set(_ option: CurlOption, _ value: UnsafeRawPointer) -> CInt {
            counterfoil_curl_set_pointer(library.setOption, handle, option.rawValue, value)
        }

        private func note(_ result: CInt, of option: CurlOption) {
            if result != 0, refusedOption == nil { refusedOption = option.rawValue }
        }
    }
}

/// The options of a transfer (`CURLOPT_…`), whose numbers never change.
enum CurlOption: CInt {
    case sslVersion = 32
    case verbose = 41
    case noProgress = 43
    case upload = 46
    case followLocation = 52
    case verifyPeer = 64
    case forbidReuse = 75
    case verifyHost = 81
    case noSignal = 99
    case responseTimeoutSeconds = 112
    case useSSL = 119
    case timeoutMilliseconds = 155
    case connectTimeoutMilliseconds = 156
    case protocols = 181
    case redirectProtocols = 182
    case url = 10002
    case proxy = 10004
    case readData = 10009
    case headerData = 10029
    case transferInfoData = 10057
    case authorityFile = 10065
    case debugData = 10095
    case username = 10173
    case password = 10174
    case mailFrom = 10186
    case mailRecipients = 10187
    case loginOptions = 10224
    case readFunction = 20012
    case headerFunction = 20079
    case debugFunction = 20094
    case transferInfoFunction = 20219
}

/// The result of a transfer (`CURLE_…`), whose numbers never change.
struct CurlResult: RawRepresentable, Hashable {
    let rawValue: CInt

    static let ok = CurlResult(rawValue: 0)
    static let unsupportedProtocol = CurlResult(rawValue: 1)
    static let failedInit = CurlResult(rawValue: 2)
    static let notBuiltIn = CurlResult(rawValue: 4)
    static let hostNotFound = CurlResult(rawValue: 6)
    static let notConnected = CurlResult(rawValue: 7)
    static let outOfMemory = CurlResult(rawValue: 27)
    static let timedOut = CurlResult(rawValue: 28)
    static let tlsFailed = CurlResult(rawValue: 35)
    static let aborted = CurlResult(rawValue: 42)
    static let unknownOption = CurlResult(rawValue: 48)
    static let certificateRefused = CurlResult(rawValue: 60)
    static let tlsRequired = CurlResult(rawValue: 64)
    static let loginDenied = CurlResult(rawValue: 67)
    static let authorityFileUnreadable = CurlResult(rawValue: 77)
}
