// The types of what the scripts hand each other, for the compiler that checks them; no code.

/**
 * A linear layout: the basis vectors of each input's bits, and the size of each output.
 *
 * @typedef {{ ins: Array<[string, number[][]]>, outs: Array<[string, number]> }} Linear
 */

/**
 * A layout as the file embeds it, by tt_layout.page.embedded.
 *
 * @typedef {object} Spec
 * @property {string} attribute
 * @property {string} type
 * @property {string} memory where the tensor is: REGISTERS, SHARED or TENSOR_MEMORY
 * @property {Array<[string, number[][]]>} ins the basis vectors of each input's bits
 * @property {Array<[string, number]>} outs the sizes of the tensor
 * @property {number | null} bits of an element
 * @property {Array<[number, number]>} padding intervals, each with what is added after it
 * @property {string} release
 * @property {string} name
 * @property {string} [title]
 * @property {number | null} [line] of the dump, where it is defined
 * @property {number[]} [uses] lines of the dump
 *
 * @typedef {object} Phase
 * @property {number[]} masks of lanes that are served together
 * @property {number} banks
 *
 * @typedef {object} Target
 * @property {string} name
 * @property {string[]} chips others that differ by name only, or how their names begin
 * @property {string} [like] the one before it that has the same facts, and gives it them
 * @property {string} title
 * @property {number} lanes
 * @property {number[]} [otherLanes] what a warp may have instead
 * @property {number} banks
 * @property {number} bankBytes
 * @property {number} maxVectorBytes
 * @property {Record<number, Phase>} loadPhases
 * @property {Record<number, Phase>} [storePhases] where they differ from those of loads
 * @property {Phase} matrixPhase
 * @property {boolean} mergesWideLoads
 * @property {boolean} pairsAccesses
 * @property {Record<number, { name: string, widthBytes: number, addresses: Array<[string, number]> }>} transposingReads
 * @property {string[]} mnemonics of loads and of stores
 * @property {string} cycle what the vendor calls one
 * @property {string[]} matrixInstructions
 * @property {Array<number | string> | null} sums how a reduction adds: bits of what is added in pairs; rows, swaps, redux; null where no document says
 * @property {string} source
 * @property {boolean} verified
 * @property {string} standing
 *
 * @typedef {object} DumpFinding
 * @property {number[]} lines
 * @property {string} message
 * @property {string} kind
 * @property {string} share of the kernel's time, in words
 * @property {string[]} advice
 * @property {string | null} suggested the layout that the accesses to shared memory should have
 *
 * @typedef {object} DumpMovement
 * @property {number} line
 * @property {string} name
 * @property {string} group
 * @property {string | null} function
 * @property {string | null} type
 * @property {string | null} from
 * @property {string | null} to
 * @property {Array<number | null>} layouts their numbers on the page
 * @property {number} bytes
 * @property {string} runs
 * @property {string[]} [explained] the operation in words
 * @property {boolean} inLoop
 * @property {string | null} cost
 * @property {number} weight
 * @property {number} cycles in one program, loops counted; 0 where they are not known
 * @property {Record<string, number | string>} facts
 * @property {{ file: string, line: number } | null} location
 * @property {Array<[string, number, number]>} [became] instructions of the assembly: name, how many, line of the first
 * @property {number} [extra] cycles of an instruction that bank conflicts add, of a dump read in the page
 * @property {GlobalRequest | null} request
 *
 * @typedef {object} GlobalRequest the first one of an access to global memory
 * @property {Array<number | null>} starts the byte at which each lane begins
 * @property {number} width_bytes
 * @property {number} sector_bytes
 * @property {number} line_bytes
 * @property {Record<string, number>} supposed what arguments were taken to be
 *
 * @typedef {object} Multiplication
 * @property {string[]} title
 * @property {string} about
 * @property {string} colour
 * @property {any[]} parts
 * @property {number} [line]
 *
 * @typedef {object} EmbeddedAssembly
 * @property {string} name
 * @property {string} text
 * @property {Array<[number, number, number]>} pieces first line, last line, place
 * @property {number[]} spills lines
 * @property {string} about where spilled registers are, in words
 * @property {Array<[string, number, number]>} places of the program: file, line, column
 *
 * @typedef {object} KernelTime the estimate of a kernel
 * @property {string} name
 * @property {string} text the estimate, or why there is none
 * @property {number} [seconds]
 * @property {Array<[string, number, string]>} [bars] what takes time: seconds alone, and in words
 * @property {TimePath[]} [paths]
 *
 * @typedef {object} TimePath an iteration of a loop, or a program without any
 * @property {string} text
 * @property {number} cycles
 * @property {number} drawn cycles of the picture
 * @property {number} passes iterations in it
 * @property {Array<[number, number, string, string | null, number | null]>} critical line, cycles, operation, file and line of the program
 * @property {Array<[string, string, Array<[number, number, number]>]>} lanes name, meaning, and begin, end and line of each span
 *
 * @typedef {object} DumpModule
 * @property {number} number
 * @property {string[]} kernels what its kernels are called
 * @property {number[]} rank what modules are compared by, the worst highest
 * @property {number} first the line where it, or its first alias, begins
 * @property {number} line
 * @property {string | null} pass
 * @property {string | null} stage
 * @property {string | null} target
 * @property {string[]} summary
 * @property {DumpFinding[]} findings
 * @property {Array<{ lines: number[], message: string }>} [notes] what stays as it is: every other way is dearer
 * @property {DumpMovement[]} movements
 * @property {Multiplication[]} multiplications
 * @property {Array<[number, number]>} registers live ones of a thread, from each line on
 * @property {KernelTime[]} [times] of its kernels
 * @property {Record<number, number>} [tied] line -> the place of its operation, of the assembly's
 * @property {string[]} [fits] the GPUs whose shared memory each kernel fits
 * @property {string} pressure how many registers a thread needs, in words
 * @property {Array<number | null>} [changed] the cycles before and after the pass that made it
 * @property {boolean} [isUnread] whether it is read when it is chosen
 * @property {boolean} [isReadHere] whether it was read in the page, not by the audit
 *
 * @typedef {object} Example
 * @property {string} group
 * @property {string} name
 * @property {string} layout
 * @property {string} type
 * @property {string} other
 * @property {string} view
 *
 * @typedef {object} PageData
 * @property {Spec[]} layouts
 * @property {{ name: string, text: string, modules: DumpModule[], programs: Record<string, [number, string][]>, line: number | null, passes?: any[], assembly?: EmbeddedAssembly | null, isReadHere?: boolean } | null} dump
 * @property {boolean} isPair
 * @property {boolean} isMultiplied
 * @property {string | null} operand
 * @property {{ examples: Example[] } | null} playground
 * @property {Target[]} targets
 * @property {{ cells: string[], shades: number }} palette
 * @property {string[]} usualTargets
 * @property {string[]} releases
 * @property {any[]} encodings
 * @property {any[]} keys
 * @property {any} shortest tables of the search for an attribute with parameters
 * @property {string[]} wrappers
 * @property {string[]} placeholders
 * @property {Record<string, string>} styles
 * @property {Record<string, any>} tiles
 * @property {Record<string, any>} multiplying
 * @property {Record<string, any[]>} gluon
 * @property {any[]} parameters
 *
 * @typedef {{ rows: number, columns: number, at: number[] }} Slice
 *
 * @typedef {{ name: string, cell: number[] }} Lit
 *
 * @typedef {object} State
 * @property {number} layout
 * @property {{ attribute?: string, type?: string, bases?: Record<string, number[][]> } | null} edit
 * @property {string} colour
 * @property {string} scope
 * @property {Array<{ scope: string, element: number[] }>} pins
 * @property {Slice | null} slice
 * @property {number | null} compare
 * @property {number | null} banks
 * @property {boolean} isStore
 * @property {string} target
 * @property {boolean} isMarked
 * @property {string | null} view
 * @property {Lit | null} lit
 * @property {number} module
 * @property {number | null} line
 * @property {boolean} isTied
 *
 * @typedef {object} Shown
 * @property {Record<string, string> | null} texts
 * @property {Model | null} model
 * @property {Model | null} other
 * @property {Movement | null} movement
 * @property {Multiplication | null} ownMultiplication
 * @property {{ register: Model, shared: Model, cost?: any, error?: string } | null} access
 * @property {{ shared: Model, cost: any, attribute: string, isForAll: boolean } | null} suggestion
 * @property {TensorPlane | null} planes
 * @property {{ element: number[] | null, place: number[] | null, text: string } | null} hovered
 * @property {Lit | null} pointed
 * @property {number} cycle
 * @property {ReturnType<typeof setInterval> | null} playing
 * @property {ReturnType<typeof setTimeout> | null} waiting
 * @property {Record<string, GridView> | null} views
 * @property {MatrixView | null} matrix
 * @property {AccessView | null} accessView
 * @property {ReductionView | null} reductionView
 * @property {GridView | null} multiplicationView
 * @property {GridView | null} cyclesView
 * @property {GridView | null} suggestedView
 * @property {LayoutBox | null} layoutBox
 * @property {TextPane | null} dumpText
 * @property {TextPane | null} programText
 * @property {TextPane | null} assemblyText
 */
